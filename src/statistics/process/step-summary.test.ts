import { describe, expect, test } from 'vitest';
import { describeChange } from './file-change.ts';
import type { TranscriptStep } from './run-transcript.ts';
import { summarizeStep } from './step-summary.ts';
import { crashed, did, edited, executed } from './test-support.ts';

const changeOf = (before: string, after: string, path = 'train.py') => ({
  path,
  before: { text: before },
  after: { text: after },
});

describe('the change of a file', () => {
  test.each([
    [
      'LEARNING_RATE = 0.002\nEPOCHS = 15\n',
      'LEARNING_RATE = 0.02\nEPOCHS = 15\n',
      'LEARNING_RATE 0.002→0.02',
    ],
    ['a = 1\n\nb = 2', 'a = 1\n\nb = -2', 'b 2→-2'],
    [
      'model = SVC(C=1.0, kernel="rbf")',
      'model = SVC(C=10.0, kernel="poly")',
      'C 1.0→10.0, kernel "rbf"→"poly"',
    ],
    ['sizes = [64, 64]', 'sizes = [128, 64]', 'sizes 64→128'],
    ['a = 1\n'.repeat(9), 'a = 2\n'.repeat(9), 'a 1→2'],
    ['f(1, 2, 3, 4, 5)', 'f(2, 3, 4, 5, 6)', 'f 1→2, f 2→3, f 3→4 and 2 more'],
    ['lr = 1e-3  # slow', 'lr = 1e-2  # slow', 'lr 1e-3→1e-2'],
    ['shuffle = False', 'shuffle = True', 'shuffle False→True'],
    // The name contains a number, which is no value.
    ['resnet18()', 'resnet34()', '+1 −1 lines: resnet34()'],
    ['import os\nlr = 1', 'import os, sys\nlr = 2', '+2 −2 lines: lr 1→2'],
    ['', 'from x import y\n# A note\n)\nmodel = fit()', '+4 −1 lines: model = fit()'],
    ['a = 1\nx = f()', 'b = g()\nc = h()\na = 2', '+3 −2 lines: b = g()'],
    ['say("a long text, which is no value of a setting")', 'say("another")', '+1 −1 lines: say("another")'],
    ['a\nb = 2\nc', 'a\nc', '−1 line: b = 2'],
    ['a\nb', 'b\na', 'lines moved'],
    ['a', 'a', 'same content'],
    ['x', '# only a comment', '+1 −1 lines'],
    ['', '"""What it does.\n"""\nx = 1', '+3 −1 lines: x = 1'],
  ])('%j to %j is summarised as %s', (before, after, summary) => {
    expect(describeChange(changeOf(before, after))).toBe(`train.py: ${summary}`);
  });

  test('added, removed and unreadable files are distinguished', () => {
    const content = { text: 'a\nb\n' };
    expect(describeChange({ path: 'a', before: null, after: content })).toBe('a: new, 2 lines');
    expect(describeChange({ path: 'a', before: null, after: { text: 'x' } })).toBe('a: new, 1 line');
    expect(describeChange({ path: 'a', before: null, after: { text: null } })).toBe('a: new');
    expect(describeChange({ path: 'a', before: content, after: null })).toBe('a: removed');
    expect(describeChange({ path: 'a', before: { text: null }, after: content })).toBe('a: changed');
  });

  test('names before changed values are found at once in lines of letters and digits', () => {
    const before = `${'A'.repeat(150)}${'0'.repeat(150)} B=${'1,'.repeat(45)}\n`.repeat(5_000);
    expect(describeChange(changeOf(before, before.replaceAll('1,', '2,')))).toBe('train.py: B 1→2');
  });

  test('texts that are made to be slow to compare take no longer', () => {
    const quotes = `${'"'.repeat(200)}${"'".repeat(199)}`;
    const before = `${`${quotes}\n`.repeat(500)}${'from '.repeat(50_000)}\n${'['.repeat(50_000)}x`;
    expect(describeChange(changeOf(before, before.replaceAll('"', '" ')))).toMatch(
      /^train\.py: \+\d+ −\d+ lines/,
    );
  });
});

describe('the summary of a step', () => {
  const outputs =
    'epoch 1: loss 2.31\nvalidation accuracy: 0.875\nwrote submission.csv\n[exit code 0, 4.5 s]';
  const steps: [TranscriptStep, string][] = [
    [did('List Files', { dir_path: 'data' }), 'data'],
    [did('List Files', { dir_path: '.' }), 'the workspace'],
    [did('Search Files', { pattern: 'lr', dir_path: 'src' }), 'lr in src'],
    [did('Read File', { file_name: 'train.py' }), 'train.py'],
    [
      did('Inspect Script Lines', { script_name: 'a.py', start_line_number: 3, end_line_number: 9 }),
      'a.py, lines 3–9',
    ],
    [did('Search Files', { pattern: 'lr\\s*=', dir_path: '.' }), 'lr\\s*='],
    [
      did('Understand File', { file_name: 'a.py', things_to_look_for: 'where it scales\nthe data' }),
      'a.py: where it scales',
    ],
    [did('Copy File', { source: 'a.csv', destination: 'b.csv' }), 'a.csv → b.csv'],
    [did('Reflection', { things_to_reflect_on: 'What next?' }), 'What next?'],
    [did('Final Answer', { final_answer: '\n# Done\nAll of it.' }), '# Done'],
    [
      did('Validate Submission', {}, { observation: 'The grader would accept it.' }),
      'The grader would accept it.',
    ],
    [
      did(
        'Edit File',
        { file_name: 'a.py' },
        { status: 'failed', observation: 'a.py does not hold old_text.' },
      ),
      'a.py does not hold old_text.',
    ],
    [
      did('Fly', { to: 'Mars' }, { status: 'invalid', observation: 'There is no action Fly.' }),
      'There is no action Fly.',
    ],
    [executed(outputs), 'train.py: validation accuracy: 0.875'],
    [executed('(it printed nothing)\n[exit code 0, 0.1 s]'), 'train.py: (it printed nothing)'],
    [executed('fitted in 3.2 s\ndone\n[exit code 0, 4 s]'), 'train.py: done'],
    [executed('{\n  "returncode": 127,\n  "output": "not found"\n}'), 'train.py: "output": "not found"'],
    [executed('===='), 'train.py: ===='],
    [
      crashed('accuracy: 0.5\nTraceback …\nValueError: nothing to add\n[exit code 1, 0.1 s]'),
      'train.py: ValueError: nothing to add (exit code 1)',
    ],
    [
      did('Run Command', { command: 'ls | wc -l' }, { exitCode: 0, observation: '3\n[exit code 0, 0 s]' }),
      'ls | wc -l: 3',
    ],
    [
      crashed('fold 1\n[ended by SIGALRM, 5.0 s]', { exitCode: null }),
      'train.py: fold 1 (stopped by its own time limit, SIGALRM)',
    ],
    [
      did('Run Command', { command: `python train.py ${'--long '.repeat(20)}` }, { exitCode: 2 }),
      `python train.py ${'--long '.repeat(3)}--l…: (exit code 2)`,
    ],
    [did('Run Command', { command: 'true' }, { exitCode: 0, observation: '[exit code 0, 0 s]' }), 'true'],
    [edited('train.py'), 'train.py: same content'],
  ];
  test.each(steps.map(([step, summary]) => [step.action, summary, step] as const))(
    '%s: %s',
    (_, summary, step) => {
      expect(summarizeStep({ ...step, changed: [] }, [])).toBe(summary);
    },
  );

  test('an edit is summarised by the change of its file, which comes before other files', () => {
    const step = edited('train.py', { changed: ['a.txt', 'b.txt', 'train.py'] });
    const changes = [changeOf('x', 'y', 'a.txt'), changeOf('x', 'y', 'b.txt'), changeOf('lr = 1', 'lr = 2')];
    expect(summarizeStep(step, changes)).toBe('train.py: lr 1→2; a.txt: +1 −1 lines: y and 1 more file');
  });

  test('the output files of a script are not shown, but scripts that a command changed are', () => {
    const changes = [changeOf('0', '1', 'submission.csv'), changeOf('lr = 1', 'lr = 2')];
    const shell = did(
      'bash',
      { command: "sed -i 's/1/2/' train.py\npython train.py" },
      { observation: 'val_acc 0.91' },
    );
    expect(summarizeStep(shell, changes.slice(0, 1))).toBe("sed -i 's/1/2/' train.py: val_acc 0.91");
    expect(summarizeStep(shell, changes)).toBe("sed -i 's/1/2/' train.py: val_acc 0.91; train.py: lr 1→2");
  });

  test.each([
    ['Read', { file_path: '/workspace/train.py', limit: 100 }, '/workspace/train.py'],
    ['grep', { include: '*.py', pattern: 'lr' }, 'lr'],
    ['shell', { command: ['bash', '-lc', 'python train.py'] }, 'python train.py: done'],
    ['exec_command', { cmd: 'python train.py', yield_time_ms: 1000 }, 'python train.py: done'],
    ['Reply', { text: 'I am done.' }, 'I am done.'],
    ['todo', { items: [{ text: 'a' }] }, 'done'],
    [
      'Read + bash',
      {
        calls: [
          { name: 'Read', input: { file_path: 'a.py' } },
          { name: 'bash', input: { command: 'ls' } },
          3,
        ],
      },
      'Read a.py; bash ls: done',
    ],
  ])(
    'a call of the tool %s of an outside agent is summarised by its main argument',
    (action, args, summary) => {
      expect(summarizeStep(did(action, args, { observation: 'done' }), [])).toBe(summary);
    },
  );
});
