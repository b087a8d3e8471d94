import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { claimsIn } from './claims.ts';
import { grounding, judgedClaims } from './grounding.ts';
import { ObservedNumbers } from './measurements.ts';
import { answered, did, edited, executed, transcriptOf } from './test-support.ts';
import { tokensOf } from './words.ts';

const valuesIn = (text: string) => claimsIn(text).map(({ number }) => number.value);

test('a word of a million hyphens and a number of a million zeros are read at once', () => {
  expect(tokensOf(`a${'-'.repeat(1_000_000)}b`)).toMatchObject([{ kind: 'word', parts: ['a', 'b'] }]);
  expect(tokensOf(`ü'${'-'.repeat(1_000_000)}`)).toEqual([{ kind: 'word', text: 'ü', parts: ['ü'] }]);
  expect(tokensOf(`1${'0'.repeat(1_000_000)}1`)).toMatchObject([{ kind: 'number', unit: 1 }]);
  expect(tokensOf('18,000')).toMatchObject([{ kind: 'number', unit: 1000 }]);
});

describe('a claim', () => {
  test.each<[string, number[]]>([
    ['The accuracy improved to 0.85.', [0.85]],
    ['The model achieves a train accuracy of 0.716 and a validation accuracy of 71.6%.', [0.716, 71.6]],
    ['We reached 93.1 % test accuracy.', [93.1]],
    ['- Train MAE: 7,504', [7504]],
    ['1. **Validation MAE is $18,450 now.**', [18450]],
    [
      'The MAE of the GBR model is 11,981 on the training data and 17,686 on the validation data.',
      [11981, 17686],
    ],
    ['The execution time was 1.23 seconds, and the old script took 1.56 s.', [1.23, 1.56]],
    ['The performance improvement is 21%.', [21]],
    ['val_loss = 0.31 after 10 epochs', [0.31]],
    ['We can see that the loss fell to 1e-3.', [0.001]],
    ['Accuracy fell from 0.9 to 0.8.', [0.9, 0.8]],
    ['The word error rate is 0.05.', [0.05]],
    ['It is 2.5x faster now.', [2.5]],
    ['R² is 0.87, and the R2 score on the training data is 0.97.', [0.87, 0.97]],
  ])('%j states %j', (text, values) => {
    expect(valuesIn(text)).toEqual(values);
  });

  test.each([
    'The goal is an accuracy of 0.9.',
    'We want to improve the accuracy by more than 10%.',
    'This should reduce the loss to 0.2.',
    'I expect an accuracy of 0.9.',
    'Achieve an accuracy of at least 90%.',
    'If the accuracy is 0.9, stop.',
    'Guessed: the accuracy is 0.9.',
    'Train the model for 50 epochs to improve the accuracy.',
    'Lower the learning rate to 0.01 to reduce the loss.',
    'I increased the dropout from 0.1 to 0.5, and the loss fell.',
    'The accuracy improved with a learning rate of 0.001 and a batch size of 128.',
    'The script trains for 5 epochs with cross-entropy loss.',
    'The script failed with a syntax error in line 27.',
    'ValueError: too many dimensions, error 401',
    'Step 3: evaluate the score of the model on 10 classes',
    'The accuracy of ResNet-18 on CIFAR-10 is good.',
    'Use Python 3.11.2 and scikit-learn 1.4 for better performance.',
    '2024-02-04: the loss is printed.',
    'The top 5 accuracy is printed for 10 models.',
    'Set `accuracy = 0.9`.',
    '```\nprint("accuracy: 0.9")\n```',
    'The file has 80 columns and 1460 rows.',
    'Is the accuracy 0.9?',
  ])('%j states no result', (text) => {
    expect(valuesIn(text)).toEqual([]);
  });

  it('is read from any text without an error', () => {
    const words = fc.constantFrom(
      'accuracy',
      'loss',
      'is',
      'of',
      'epoch',
      '0.5',
      '7,504',
      '90%',
      '=',
      ':',
      ';',
      '**',
      '\n',
      '`',
      '. ',
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(words, { maxLength: 60 }).map((parts) => parts.join(' ')),
    );
    fc.assert(
      fc.property(text, (given) => {
        for (const { number, sentence } of claimsIn(given)) {
          expect(Number.isFinite(number.value)).toBe(true);
          const prose = given.replace(/`[^`\n]*`/g, ' code ').replace(/\*\*|__/g, '');
          expect(prose).toContain(sentence.split(' ')[0]);
        }
      }),
    );
  });

  it('takes no longer to find in hostile texts than in long ones', () => {
    const hostile = [
      '9'.repeat(50_000),
      '1,'.repeat(30_000),
      'status '.repeat(10_000),
      'accuracy 1.'.repeat(5000),
      '= '.repeat(30_000),
    ];
    const started = performance.now();
    for (const text of hostile) claimsIn(`accuracy ${text}x`);
    expect(performance.now() - started).toBeLessThan(3000);
  });
});

describe('grounding', () => {
  const says = (text: string) => did('List Files', { dir_path: '.' }, { entries: { Reflection: text } });
  const judge = (...steps: Parameters<typeof transcriptOf>[0]) => {
    const { claims, ungrounded } = grounding(judgedClaims(transcriptOf(steps), new ObservedNumbers()));
    return { claims, ungrounded };
  };

  it('finds a result that was stated before anything ran', () => {
    const transcript = transcriptOf([says('Accuracy improved to 0.85.'), executed('accuracy: 0.85')]);
    expect(grounding(judgedClaims(transcript, new ObservedNumbers()))).toEqual({
      claims: 1,
      ungrounded: 1,
      examples: [{ step: 1, text: 'Reflection: Accuracy improved to 0.85.' }],
    });
  });

  test.each<[string, string, string]>([
    ['as it was printed', 'accuracy: 0.8512', 'The accuracy is 0.8512.'],
    ['rounded', 'accuracy: 0.8567', 'The accuracy is 0.86.'],
    ['cut off', 'accuracy: 0.8567', 'The accuracy is 0.85.'],
    ['as a percentage', 'accuracy: 0.8512', 'The accuracy is 85.1 %.'],
    ['as a share', 'Test accuracy: 57.17%', 'The accuracy is 0.5717.'],
    ['without the sign', 'change: -0.25', 'The loss fell by 0.25.'],
    ['with separators', 'MAE 18450.06', 'The MAE is 18,450.'],
    ['in thousands', 'MAE 18450.06', 'The MAE is around 18,000.'],
    ['as a difference', 'rf accuracy: 0.80\ngbm accuracy: 0.85', 'The accuracy improved by 0.05.'],
    ['as a relative change', 'old MAE: 200\nnew MAE: 150', 'The MAE was reduced by 25%.'],
    ['as a ratio', 'old time: 6.0 s\nnew time: 2.0 s', 'The script is 3x faster.'],
    ['as a mean', 'fold accuracy: 0.7\nfold accuracy: 0.8', 'The mean accuracy is 0.75.'],
  ])('grounds a measured number %s', (_, output, text) => {
    expect(judge(executed(output), says(text))).toEqual({ claims: 1, ungrounded: 0 });
  });

  test.each<[string, string, string]>([
    ['another number', 'accuracy: 0.8512', 'The accuracy is 0.91.'],
    ['too many digits of one', 'accuracy: 0.85', 'The accuracy is 0.8512.'],
    ['a difference that is called none', 'rf accuracy: 0.80\ngbm accuracy: 0.85', 'The accuracy is 0.05.'],
    ['a change of another size', 'old MAE: 200\nnew MAE: 150', 'The MAE was reduced by 60%.'],
  ])('does not ground %s', (_, output, text) => {
    expect(judge(executed(output), says(text))).toEqual({ claims: 1, ungrounded: 1 });
  });

  it('does not treat a number that only a model wrote as a measurement', () => {
    const told = did(
      'Understand File',
      { file_name: 'train.py' },
      { byModel: true, observation: 'Test accuracy: 96.73%' },
    );
    expect(judge(told, says('The accuracy is 96.73%.'))).toEqual({ claims: 1, ungrounded: 1 });
  });

  it('does not treat a number that the agent wrote into a file itself as a measurement', () => {
    const read = did('Read File', { file_name: 'notes.md' }, { observation: 'accuracy 0.85' });
    const shown = did(
      'Run Command',
      { command: 'cat notes.md' },
      { exitCode: 0, observation: 'accuracy 0.85' },
    );
    expect(judge(edited('notes.md'), read, shown, says('The accuracy is 0.85.'))).toEqual({
      claims: 1,
      ungrounded: 1,
    });
  });

  it('treats a number that a script wrote into a file as a measurement', () => {
    const read = did('Read File', { file_name: './results.txt' }, { observation: 'accuracy 0.85' });
    expect(judge(executed('', { changed: ['results.txt'] }), read, says('The accuracy is 0.85.'))).toEqual({
      claims: 1,
      ungrounded: 0,
    });
  });

  it("does not count numbers from the task's text or files", () => {
    const read = did('Read File', { file_name: 'README.md' }, { observation: 'Baseline accuracy: 0.31' });
    expect(judge(read, says('The baseline accuracy is 0.31.'))).toEqual({ claims: 0, ungrounded: 0 });
    expect(judge(says('The accuracy improved by 10 %.'))).toEqual({ claims: 0, ungrounded: 0 });
  });

  it('counts a number once, at its first mention', () => {
    const claim = says('The accuracy is 0.85.');
    expect(judge(claim, executed('accuracy 0.85'), claim, claim)).toEqual({ claims: 1, ungrounded: 1 });
    expect(judge(executed('accuracy 0.85'), claim, claim)).toEqual({ claims: 1, ungrounded: 0 });
  });

  it('reads final answers, log entries and rejected replies, but not the actions that they request', () => {
    const transcript = transcriptOf(
      [did('Append Summary to Research Log', { content: 'Test accuracy: 99.03%' })],
      {
        end: answered('The loss is 0.12.'),
        formatErrors: [
          { afterStep: 1, reply: 'The accuracy was 0.9.\nAction: Final Answer\nThe accuracy was 0.8.' },
        ],
      },
    );
    expect(
      judgedClaims(transcript, new ObservedNumbers()).map(({ entry, number }) => [entry, number.value]),
    ).toEqual([
      ['research log', 99.03],
      ['rejected reply', 0.9],
      ['Final Answer', 0.12],
    ]);
  });

  it('grounds what is said at the end by what programs printed in other branches', () => {
    const end = answered('On withheld rows 1 gained +0.108 ± 0.018 over 0.');
    const ofTree = (printedElsewhere: string[]) =>
      grounding(
        judgedClaims(
          transcriptOf([executed('accuracy 0.5')], { end, printedElsewhere }),
          new ObservedNumbers(),
        ),
      ).ungrounded;
    expect(ofTree([])).toBeGreaterThan(0);
    expect(ofTree(['HELD OUT {"gain": {"gain": 0.10812, "error": 0.01796}, "answers": "eJw"}'])).toBe(0);
  });

  it('grounds no fewer claims when more was measured before', () => {
    const output = fc.array(fc.double({ min: 0, max: 100, noNaN: true }), { maxLength: 20 });
    fc.assert(
      fc.property(output, output, output, (first, more, claimed) => {
        const text = (values: number[]) => values.map((value) => `accuracy: ${value.toFixed(3)}`).join('\n');
        const claims = says(text(claimed));
        const few = judge(executed(text(first)), claims);
        const many = judge(executed(text(first)), executed(text(more)), claims);
        expect(many.claims).toBe(few.claims);
        expect(few.ungrounded).toBeLessThanOrEqual(few.claims);
        // Only in comparing sentences are derived numbers accepted, for which this does not hold.
        expect(many.ungrounded).toBeLessThanOrEqual(few.ungrounded);
      }),
    );
  });
});

test('texts in ASCII are read the same way as texts with other letters', () => {
  const pieces = [
    'acc',
    'val_loss',
    '0.85',
    '1,234',
    '12%',
    '3e-4',
    '-0.5',
    ' ',
    ': ',
    '=',
    '(',
    '/',
    '.',
    'x',
    '7',
    's',
  ];
  const ascii = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.oneof(ascii, fc.string({ unit: 'grapheme-ascii' })), (text) => {
      expect(tokensOf(`${text} ; é`).slice(0, -2)).toEqual(tokensOf(`${text} ;`).slice(0, -1));
    }),
    { numRuns: 500 },
  );
});
