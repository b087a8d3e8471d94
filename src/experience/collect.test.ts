import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FakeEnvironment } from '../../test/fakes/fake-environment.ts';
import { exampleEvaluation } from '../../test/fixtures/example-evaluation.ts';
import { exampleFingerprint } from '../../test/fixtures/experience.ts';
import { transcriptOf } from '../../test/fixtures/transcript.ts';
import { agentByName } from '../agents/index.ts';
import type { StepResult } from '../environment/index.ts';
import { type Action, ExperienceEntry, type RunEvaluation } from '../schema/index.ts';
import type { TranscriptStep } from '../statistics/index.ts';
import { collectEntries } from './collect.ts';

type Steps = readonly Partial<TranscriptStep>[];

function collect(
  agent: string,
  steps: Steps,
  changes: Partial<RunEvaluation> = {},
  lastEntries: Record<string, string> = {},
): ExperienceEntry[] {
  return collectEntries({
    fingerprint: exampleFingerprint,
    transcript: transcriptOf(steps, { problem: 'Lower the MAE.', lastEntries }),
    evaluation: { ...exampleEvaluation(), ...changes },
    experiment: exampleEvaluation().experiment,
    agent,
    started: 1,
    ended: 2,
  });
}

const write = { action: 'Write File', changed: ['train.py'] };
const execute = (observation: string, changes: Partial<TranscriptStep> = {}): Partial<TranscriptStep> => ({
  ...{ action: 'Execute Script', exitCode: 0, observation },
  ...changes,
});
const crash = execute('Traceback\nValueError: bad shape\n[exit code 1, 2.0 s]', {
  status: 'failed',
  exitCode: 1,
});
const told = (entries: ExperienceEntry[]) =>
  entries.map(({ change, outcome, effect }) => [change.text, outcome, effect.noise_units]);

describe('of a run of automl', () => {
  /** Builds a transcript: notes belong to the step after them. */
  class Recorded extends FakeEnvironment {
    readonly transcript: Partial<TranscriptStep>[] = [];
    #entries: Record<string, string> = {};

    override note(entries: Record<string, string>): void {
      for (const [name, text] of Object.entries(entries))
        this.#entries[name] = this.#entries[name] === undefined ? text : `${this.#entries[name]}\n\n${text}`;
    }

    override async step(action: Action): Promise<StepResult> {
      const result = await super.step(action);
      const { status, observation, exitCode, budget } = result;
      const used = { seconds: budget.seconds_used, tokens: 0, money: 0 };
      const { name, args } = action;
      this.transcript.push({
        action: name,
        args,
        status,
        observation,
        exitCode,
        entries: this.#entries,
        used,
      });
      this.#entries = {};
      return result;
    }
  }

  test('every try is an entry, with the values of its notes', async () => {
    const lr = (source: string) => Number(/lr = (\S+)/.exec(source)?.[1]);
    const environment = new Recorded({
      files: { 'train.py': 'lr = 10.0\n', 'submission.csv': '' },
      execute: (source) => ({
        output: `validation MAE: ${10 + 5 * Math.log10(lr(source) / 0.1) ** 2}`,
        exitCode: lr(source) > 50 ? 1 : 0,
        seconds: 4,
        writes: { 'submission.csv': source },
      }),
    });
    await agentByName('automl').run({ environment, seed: 0, options: { max_tries: 6 }, reference: null });
    const entries = collect('automl', environment.transcript);
    expect(entries).toHaveLength(6);
    for (const { change } of entries) expect(change).toMatchObject({ kind: 'number', name: 'lr' });
    const failed = entries.filter(({ change }) => change.kind === 'number' && change.to > 50);
    expect(failed.map(({ outcome }) => outcome)).toEqual(failed.map(() => 'failed'));
    const best = entries.filter(({ outcome }) => outcome === 'better');
    expect(best[0]).toMatchObject({
      change: { from: 10, to: 1 },
      effect: { validation: 15, noise_units: expect.closeTo(15 / 0.03, 0) },
      seconds: 4,
    });
    const others = entries.filter(({ outcome }) => outcome === 'not_better');
    for (const { effect } of others) expect(effect.validation).toBeLessThanOrEqual(0.03);
    expect(new Set(entries.map(({ id }) => id)).size).toBe(6);
  });

  const before = {
    Change: 'lr: 0.1 → 0.01 (line 3).',
    Prediction: "If it helps, the script's own MAE falls from 20 by more than 0.5. The run takes about 4 s.",
  };
  const after = { Observed: 'MAE 10 (4 s).', Decision: 'Better by more than the noise: kept.' };

  test('a gain that is not noted follows from the start of the next try', () => {
    const next = { ...before, Prediction: 'the MAE falls from 12 by more than 0.5.' };
    const steps = [{ ...write, entries: before }, execute(''), { ...write, entries: { ...after, ...next } }];
    expect(
      told(collect('automl', steps, {}, { Decision: 'A failure is the worst score: put back.' })),
    ).toEqual([
      ['lr: 0.1 → 0.01 (line 3).', 'better', 16],
      ['lr: 0.1 → 0.01 (line 3).', 'failed', null],
    ]);
  });

  test('a change of anything but a number has the words of its note', () => {
    const steps = [{ ...write, entries: { ...before, Change: 'Adam → AdamW.' } }, execute('')];
    const [entry] = collect(
      'automl',
      steps,
      {},
      { ...after, Decision: 'A gain of 2, more than the noise: kept.' },
    );
    expect(entry).toMatchObject({
      change: { kind: 'edit', text: 'Adam → AdamW.' },
      outcome: 'better',
      effect: { noise_units: 4 },
    });
  });

  test('only a different seed is not a try, but a number in another file is one', () => {
    const Change = 'every seed raised by 3, and nothing else.';
    expect(collect('automl', [{ ...write, entries: { ...before, Change } }, execute('')], {}, after)).toEqual(
      [],
    );
    const elsewhere = { ...before, Change: 'lr: 0.1 → 0.01 (line 3 of config.py).' };
    const [entry] = collect('automl', [{ ...write, entries: elsewhere }, execute('')], {}, after);
    expect(entry?.change).toMatchObject({ kind: 'number', name: 'lr', from: 0.1, to: 0.01 });
  });

  test('a change of several numbers at once is not recorded as a change of one number', () => {
    const Change = 'lr: 0.1 → 0.01 (line 3), epochs: 5 → 10 (line 4).';
    const [entry] = collect('automl', [{ ...write, entries: { ...before, Change } }], {}, after);
    expect(entry?.change).toEqual({ kind: 'edit', text: Change });
  });

  test.each(['Rewrite', 'Model'])('a %s is identified by its name, whatever the script is', (kind) => {
    const told = { ...before, Change: 'The optimiser of line 12 is another.', [kind]: 'torch: AdamW' };
    const [entry] = collect('automl', [{ ...write, entries: told }, execute('')], {}, after);
    expect(entry).toMatchObject({
      change: {
        kind: kind.toLowerCase(),
        name: 'torch: AdamW',
        text: 'torch: AdamW – The optimiser of line 12 is another.',
      },
      outcome: 'better',
      effect: { noise_units: null },
    });
  });

  test('a short run that only selects a version for a full run gives no entry', () => {
    const Decision = 'Only its place among others of its length counts.';
    const [entry] = collect('automl', [{ ...write, entries: before }], {}, { ...after, Decision });
    expect(entry).toMatchObject({ outcome: 'unclear', effect: { validation: null } });
  });

  test('a change that a decision keeps is better, whatever else it says', () => {
    const outcomeOf = (Decision: string) =>
      collect('automl', [{ ...write, entries: before }], {}, { ...after, Decision })[0]?.outcome;
    expect(outcomeOf('The submission passed the check. Kept.')).toBe('better');
    expect(outcomeOf('Not better than before: not kept.')).toBe('not_better');
    expect(outcomeOf('The check of the submission ended as "failed". Not kept.')).toBe('not_better');
    expect(outcomeOf('A failure: not kept.')).toBe('failed');
    expect(outcomeOf('The score did not change at all: put back.')).toBe('not_better');
  });

  test('the hidden gain of a try is known if both versions were graded', () => {
    const steps = [execute('MAE: 20'), { ...write, entries: before }, execute('MAE: 10')];
    const grade = { final: false, valid: true, baseline: 20, stale: false, seconds: 1, tokens: 0, money: 0 };
    const scoringReference = {
      ...{ direction: 'minimize' as const, threshold: 0.1, reference: null, best: null },
      baseline: { mean: 20, spread: 0.1, seeds: 3 },
    };
    const grades = [
      { ...grade, step: 1, score: 21 },
      { ...grade, step: 3, score: 12 },
    ];
    expect(
      collect('automl', steps, { grades, scoring_reference: scoringReference }, after)[0]?.effect.hidden,
    ).toBe(9);
    expect(
      collect('automl', steps, { grades: [], scoring_reference: scoringReference }, after)[0]?.effect.hidden,
    ).toBe(null);
  });
});

describe('of a run of any other agent', () => {
  const edit = (instruction: string, changes: Partial<TranscriptStep> = {}) => ({
    ...{ action: 'Edit Script (AI)', args: { edit_instruction: instruction }, changed: ['train.py'] },
    ...changes,
  });

  test('an edit counts once an execution prints the metric, or fails', () => {
    const steps = [
      execute('Validation MAE: 100'),
      edit('Use gradient boosting'),
      crash,
      edit('Mend the shape'),
      execute('Validation MAE: 80'),
      edit('Use a linear model'),
      execute('Validation MAE: 90'),
      edit('Never run'),
    ];
    const entries = collect('research', steps);
    expect(told(entries)).toEqual([
      ['Use gradient boosting', 'failed', null],
      ['Use gradient boosting / Mend the shape', 'better', 200],
      ['Use a linear model', 'not_better', -125],
    ]);
    expect(entries[0]?.failure).toBe('ValueError: bad shape');
  });

  test('without an earlier measurement an edit is unclear, and an undone edit is not a try', () => {
    const steps = [
      edit('First'),
      execute('MAE: 5'),
      edit('Second'),
      { action: 'Undo Edit Script', changed: ['train.py'] },
      execute('MAE: 5'),
    ];
    expect(told(collect('research', steps))).toEqual([['First', 'unclear', null]]);
  });

  test("a gain within the starter's spread does not count", () => {
    const steps = [execute('MAE: 100'), edit('More trees'), execute('MAE: 98')];
    const baseline = { mean: 100, spread: 4, seeds: 5 };
    const scoringReference = {
      direction: 'minimize' as const,
      threshold: 0.1,
      baseline,
      reference: null,
      best: null,
    };
    expect(told(collect('tools', steps, { scoring_reference: scoringReference }))).toEqual([
      ['More trees', 'not_better', 0.5],
    ]);
    expect(told(collect('tools', steps, { scoring_reference: null }))).toEqual([
      ['More trees', 'better', 20],
    ]);
  });
});

test('whatever agents and scripts wrote, entries are valid, and the same every time', () => {
  const scraps = fc.constantFrom(
    ...[
      'MAE: 1e999',
      'Validation MAE: 3',
      'lr: 1 → 1e999 (line 1).',
      'lr: 2 → 1 (line 9).',
      'kept',
      '```\n[E1]',
    ],
    ...['A gain of 1e999', 'falls from 2 by more than 0.', '\u001b[31m', '\ud800', 'x'.repeat(2000)],
  );
  const text = fc.oneof(scraps, fc.string());
  const step = fc.record({
    action: fc.constantFrom('Execute Script', 'Write File', 'Undo Edit Script', 'Edit Script (AI)'),
    status: fc.constantFrom('ok' as const, 'failed' as const, 'timed_out' as const),
    args: fc.dictionary(fc.constantFrom('edit_instruction', '__proto__'), text),
    observation: text,
    changed: fc.constantFrom(['train.py'], []),
    entries: fc.dictionary(
      fc.constantFrom(
        ...['Change', 'Rewrite', 'Model', 'Prediction', 'Observed', 'Decision', 'Thought', '__proto__'],
      ),
      text,
    ),
  });
  fc.assert(
    fc.property(fc.constantFrom('automl', 'research'), fc.array(step, { maxLength: 12 }), (agent, steps) => {
      const entries = collect(agent, steps);
      for (const entry of entries) {
        expect(ExperienceEntry.parse(JSON.parse(JSON.stringify(entry)))).toEqual(entry);
        expect(entry.change.text).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
      }
      expect(collect(agent, steps)).toEqual(entries);
    }),
  );
});
