import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { ProcessMetrics } from '../../schema/index.ts';
import { errorOf } from './debugging.ts';
import { processMetrics } from './process-metrics.ts';
import type { RunTranscript, TranscriptStep } from './run-transcript.ts';
import {
  answered,
  crashed,
  did,
  edited,
  executed,
  graded,
  noSubmission,
  scoringReference,
  transcriptOf,
} from './test-support.ts';

const list = did('List Files', { dir_path: '.' });
const log = did('Append Summary to Research Log', { content: 'x' }, { changed: ['research_log.log'] });
const measure = (steps: TranscriptStep[], more: Partial<RunTranscript> = {}) =>
  processMetrics(transcriptOf(steps, more), scoringReference);

describe('endings', () => {
  const end = answered('Done.');

  it('calls a final answer verified by a successful execution after the last edit', () => {
    expect(measure([edited(), executed('')], { end }).endings.unverified).toBe(false);
    expect(measure([executed(''), edited()], { end }).endings.unverified).toBe(true);
    expect(measure([edited(), executed(''), edited(), crashed('')], { end }).endings.unverified).toBe(true);
    expect(measure([list], { end }).endings.unverified).toBe(true);
  });

  it('calls no run without a final answer unverified, and ignores edits of the log and edits that changed nothing', () => {
    expect(measure([edited()]).endings.unverified).toBe(false);
    const noOp = edited('train.py', { changed: [] });
    expect(measure([edited(), executed(''), noOp, log], { end }).endings.unverified).toBe(false);
  });

  it('recognises runs that never executed anything', () => {
    const missing = did(
      'Execute Script',
      { script_name: 'a.py' },
      { status: 'failed', observation: 'a.py does not exist.' },
    );
    const invalid = did('Execute Script', {}, { status: 'invalid' });
    expect(measure([list, missing, invalid]).endings.never_executed).toBe(true);
    expect(measure([]).endings.never_executed).toBe(false);
    const killed = crashed('(it printed nothing)\n[ended by SIGKILL, 1.0 s]', { exitCode: null });
    expect(measure([killed]).endings.never_executed).toBe(false);
    expect(
      measure([did('Python REPL', { command: '1/0' }, { status: 'failed' })]).endings.never_executed,
    ).toBe(false);
  });

  it('recognises a stale submission by the final grade, else by the last step', () => {
    const stale = executed('', { submission: { ...noSubmission, present: true, stale: true } });
    expect(measure([stale]).endings.stale_submission).toBe(true);
    expect(measure([stale], { grades: [graded(1, 0.6, { final: true })] }).endings.stale_submission).toBe(
      false,
    );
  });
});

describe('debugging', () => {
  const name = (line: number) =>
    crashed(`  File "a.py", line ${line}\nNameError: name 'np' is not defined\n[exit code 1, 0.3 s]`);
  const syntax = crashed('SyntaxError: invalid syntax\n[exit code 1, 0.2 s]');

  it('measures chains of failures, their repeated errors, and which chains ended with a success', () => {
    const steps = [name(3), edited(), name(7), syntax, executed(''), syntax, list, syntax];
    expect(measure(steps).debugging).toEqual({
      ...{ executions: 6, failed: 5, chains: 2, longest_chain: 3, mean_chain: 2.5 },
      ...{ same_error_again: 2, recovery_rate: 0.5 },
    });
  });

  it('has no values if nothing failed', () => {
    expect(measure([executed('')]).debugging).toMatchObject({
      chains: 0,
      mean_chain: null,
      recovery_rate: null,
    });
  });

  test.each([
    ["KeyError: 'age'", "KeyError: 'sex'", false],
    ['IndexError: index 5 is out of bounds', 'IndexError: index 6 is out of bounds', true],
    ['<f at 0x7f00> is no number', '<f at 0x7e11> is no number', true],
    ["FileNotFoundError: '/a/b/train.csv'", "FileNotFoundError: '/c/train.csv'", true],
    ['sh: 1: pyton: not found', 'sh: 1: pip: not found', false],
  ])('%s and %s: the same error: %s', (first, second, same) => {
    expect(errorOf(crashed(`${first}\n`)) === errorOf(crashed(`${second}\n`))).toBe(same);
  });

  it('distinguishes a time-out from a crash', () => {
    expect(errorOf(crashed('x', { status: 'timed_out' }))).not.toBe(errorOf(crashed('x')));
  });
});

describe('waste', () => {
  it('counts repeated actions if nothing but the log has changed since', () => {
    expect(measure([list, log, list, edited(), list, list]).waste.repeated_actions).toBe(2);
    expect(measure([list, did('List Files', { dir_path: 'data' })]).waste.repeated_actions).toBe(0);
  });

  it('counts a second execution of the same code as a repetition, but not a second edit of the same kind', () => {
    const run = executed('', { changed: ['submission.csv'] });
    expect(measure([run, run]).waste.repeated_actions).toBe(1);
    const append = did('Append File', { file_name: 'a.txt', content: 'x' }, { changed: ['a.txt'] });
    expect(measure([append, append]).waste.repeated_actions).toBe(0);
  });

  it('does not count the log, the budget and the interpreter', () => {
    const ask = did('Retrieval from Research Log', { current_plan: '' });
    const repl = did('Python REPL', { command: 'i += 1' });
    const budget = did('Check Budget');
    expect(measure([ask, repl, budget, ask, repl, budget]).waste.repeated_actions).toBe(0);
  });

  it('counts edits, those without effect, and those that no execution could run', () => {
    const runs = (script_name: string) => did('Execute Script', { script_name }, { exitCode: 0 });
    const waste = (...steps: TranscriptStep[]) => {
      const { edits, edits_never_executed, no_op_edits, edit_to_execute_ratio } = measure(steps).waste;
      return [edits, edits_never_executed, no_op_edits, edit_to_execute_ratio];
    };
    expect(waste(edited('a.py'), runs('a.py'))).toEqual([1, 0, 0, 1]);
    expect(waste(edited('a.py'), edited('a.py', { changed: [] }))).toEqual([2, 2, 1, null]);
    expect(waste(edited('a.py'), runs('b.py'))).toEqual([1, 1, 0, 1]);
    const importing = did('Write File', { file_name: 'b.py', content: 'import a\n' }, { changed: ['b.py'] });
    expect(waste(edited('a.py'), importing, runs('b.py'))).toEqual([2, 0, 0, 2]);
    expect(waste(edited('settings.json'), runs('b.py'))).toEqual([1, 0, 0, 1]);
    const undo = did('Undo Edit Script', { script_name: 'a.py' }, { changed: ['a.py'] });
    expect(waste(edited('a.py'), undo, runs('a.py'))).toEqual([1, 1, 0, 1]);
    expect(waste(did('Write File', { file_name: 'a.py' }, { status: 'refused' }))).toEqual([0, 0, 0, null]);
  });

  it('counts a reply that could not be read once, whether or not it became a step', () => {
    const invalid = did('(none)', {}, { status: 'invalid' });
    const formatErrors = [
      { afterStep: 0, reply: '?' },
      { afterStep: 1, reply: '?' },
    ];
    expect(measure([list, invalid, list, invalid], { formatErrors }).waste.format_errors).toBe(3);
  });
});

describe('progress', () => {
  const run = (accuracy: number) => executed(`train accuracy: 0.99\nvalidation accuracy: ${accuracy}`);
  const steps = [run(0.6), run(0.7), run(0.8), list];
  const grades = [graded(1, null), graded(2, 0.6), graded(3, 0.75), graded(4, 0.65, { final: true })];

  it('is measured relative to the baseline, step by step', () => {
    const { progress } = measure(steps, { grades });
    expect(progress.first_valid).toEqual({ step: 2, seconds: 20, tokens: 200 });
    expect(progress.area_under_curve).toBeCloseTo((0 + 0.2 + 0.5 + 0.3) / 4);
    expect(progress.regret).toBeCloseTo(0.2);
  });

  it('counts no improvement for a submission that is invalid at the end', () => {
    const spoilt = [...grades.slice(0, 3), graded(4, null, { final: true })];
    expect(measure(steps, { grades: spoilt }).progress.regret).toBeCloseTo(0.5);
  });

  it('has no values if not every step was graded', () => {
    const nothing = {
      first_valid: null,
      area_under_curve: null,
      regret: null,
      validation_rank_correlation: null,
    };
    expect(measure(steps, { grades: [graded(4, 0.7, { final: true })] }).progress).toEqual(nothing);
    // Only the steps before an interruption and the end were graded.
    expect(measure(steps, { grades: [...grades.slice(0, 2), ...grades.slice(-1)] }).progress).toEqual(
      nothing,
    );
    expect(processMetrics(transcriptOf(steps, { grades }), null).progress).toEqual(nothing);
  });

  it("measures how well the agent's own validation metric ranks its steps", () => {
    const scored = [graded(1, 0.6), graded(2, 0.7), graded(3, 0.65, { final: true })];
    expect(measure(steps.slice(0, 3), { grades: scored }).progress.validation_rank_correlation).toBeCloseTo(
      1 / 3,
    );
  });

  it('inverts metrics of which lower is better, and ignores those on training data', () => {
    const outputs = [0.3, 0.2, 0.1].map((loss) =>
      executed(`train loss: ${1 - loss}\nval_loss: ${loss}\nepoch time: 3 s`),
    );
    const scored = [graded(1, 0.5), graded(2, 0.6), graded(3, 0.7, { final: true })];
    expect(measure(outputs, { grades: scored }).progress.validation_rank_correlation).toBe(1);
    const training = [0.3, 0.2, 0.1].map((loss) => executed(`train loss: ${loss}`));
    expect(measure(training, { grades: scored }).progress.validation_rank_correlation).toBeNull();
  });

  it('gives no ranking for fewer than three pairs, and leaves out stale submissions', () => {
    const scored = [graded(1, 0.5), graded(2, 0.6), graded(3, 0.7, { final: true, stale: true })];
    expect(measure(steps.slice(0, 3), { grades: scored }).progress.validation_rank_correlation).toBeNull();
  });
});

test('a path of any length is compared at once', () => {
  const long = 'y'.repeat(1_000_000);
  const steps = [edited(`${long}/x`), edited(`a/${long}.py`), executed('import x')];
  expect(measure(steps)).toMatchObject({ waste: { edits: 2, edits_never_executed: 1 } });
});

describe('plan', () => {
  const planned = (...plans: string[]) =>
    measure(plans.map((plan) => did('List Files', {}, { entries: { 'Research Plan and Status': plan } })))
      .plan;

  it('follows items from version to version', () => {
    const first =
      '1. Understand the data.\n2. Train a model on all features.\n3. Try other models.\n4. Tune the best.';
    const then =
      '1. Understand the data. **Done.**\n2. Train a model on all the features. In progress.\n4. Tune the best.';
    const last = '1. Train a model on all features. Done, MAE is 18,450\n2. **Write a report.**';
    expect(planned(first)).toEqual({ kept: true, declared: 4, done: 0, dropped: 0 });
    expect(planned(first, then)).toEqual({ kept: true, declared: 4, done: 1, dropped: 1 });
    expect(planned(first, then, last)).toEqual({ kept: true, declared: 5, done: 2, dropped: 2 });
  });

  it('reads a status section that is separate from the items', () => {
    const plan = [
      ...[
        '* High Level Plan:',
        '\t+ Step 1: Understand the problem',
        '\t+ Step 2: Run the baseline',
        '* Current Status:',
      ],
      ...['\t+ Step 1: Completed', '\t+ Step 2: Not started', '* Confirmed Results: None'],
    ];
    expect(planned(plan.join('\n'))).toEqual({ kept: true, declared: 2, done: 1, dropped: 0 });
  });

  test.each([
    ['- [x] Train a model', 1],
    ['- [ ] Train a model', 0],
    ['- Train a model ✓', 1],
    ['- Train a model (completed)', 1],
    ['- Train a model: not done', 0],
    ['- Complete the script', 0],
    ['- Train a model. In progress.', 0],
  ])('%j: %d done', (plan, done) => {
    expect(planned(plan)).toMatchObject({ declared: 1, done });
  });

  it('reads a long plan of lines that nearly are headings at once', () => {
    const line = `${'*note*g'.repeat(70)}:${'\t'.repeat(450)}:x`;
    expect(planned(`${line}\n`.repeat(5_000))).toMatchObject({ kept: true, declared: 0 });
  });

  it('drops no items if a reply left the plan out', () => {
    expect(planned('1. Train a model.', '(as before)')).toMatchObject({ declared: 1, dropped: 0 });
    expect(measure([list]).plan).toEqual({ kept: false, declared: 0, done: 0, dropped: 0 });
  });
});

describe('any run', () => {
  const text = fc.constantFrom(
    '',
    'accuracy: 0.5',
    'ValueError: x',
    'The accuracy is 0.7.',
    '1. Train a model. Done.',
    'loss 3 %',
  );
  const action = fc.constantFrom(
    'Execute Script',
    'Write File',
    'Undo Edit Script',
    'Read File',
    'Run Command',
    'Nonsense',
    '(none)',
  );
  const anyStep = fc
    .record({
      action,
      file: fc.constantFrom('a.py', 'b.py', 'submission.csv'),
      status: fc.constantFrom('ok', 'failed', 'invalid', 'timed_out', 'closed'),
      exitCode: fc.constantFrom(0, 1, null),
      observation: text,
      entry: text,
      changes: fc.boolean(),
    })
    .map(({ action, file, status, exitCode, observation, entry, changes }) =>
      did(
        action,
        { script_name: file, file_name: file, command: file },
        {
          ...{ status, exitCode, observation, changed: changes ? [file] : [] },
          entries: { 'Research Plan and Status': entry },
        },
      ),
    );
  const anyGrades = fc.array(fc.option(fc.double({ min: 0, max: 1, noNaN: true })), { maxLength: 8 });
  const anyTranscript = fc
    .record({ steps: fc.array(anyStep, { maxLength: 12 }), scores: anyGrades })
    .map(({ steps, scores }) =>
      transcriptOf(steps, {
        grades: scores.map((score, index) => graded(index, score, { final: index === scores.length - 1 })),
        end: answered('The loss is 0.3.'),
      }),
    );

  it('every measure fits its schema and its bounds', () => {
    fc.assert(
      fc.property(anyTranscript, (transcript) => {
        const metrics = processMetrics(transcript, scoringReference);
        expect(ProcessMetrics.parse(metrics)).toEqual(metrics);
        const { grounding, debugging, waste, plan, progress } = metrics;
        expect(grounding.ungrounded).toBeLessThanOrEqual(grounding.claims);
        expect(debugging.failed).toBeLessThanOrEqual(debugging.executions);
        expect(debugging.executions + waste.edits).toBeLessThanOrEqual(transcript.steps.length);
        expect(debugging.longest_chain).toBeLessThanOrEqual(debugging.failed);
        expect(debugging.same_error_again).toBeLessThanOrEqual(debugging.failed - debugging.chains);
        expect(waste.repeated_actions).toBeLessThanOrEqual(Math.max(0, transcript.steps.length - 1));
        expect(Math.max(waste.edits_never_executed, waste.no_op_edits)).toBeLessThanOrEqual(waste.edits);
        expect(plan.done + plan.dropped).toBeLessThanOrEqual(plan.declared);
        const gains = transcript.grades.map(({ score }) => (score === null ? 0 : (score - 0.5) / 0.5));
        if (progress.area_under_curve === null) return;
        expect(progress.area_under_curve).toBeLessThanOrEqual(Math.max(0, ...gains) + 1e-9);
        expect(progress.area_under_curve).toBeGreaterThanOrEqual(Math.min(0, ...gains) - 1e-9);
      }),
    );
  });

  it('a step without effect at the end changes only the time that the last state was held', () => {
    fc.assert(
      fc.property(anyTranscript, (transcript) => {
        // Of a run without steps, it is not known whether it executed anything.
        fc.pre(transcript.steps.length > 0);
        const step = transcript.steps.length + 1;
        const longer = {
          ...transcript,
          steps: [...transcript.steps, { ...did('Check Budget'), step }],
          grades: [
            ...transcript.grades.map((grade) => ({ ...grade, final: false })),
            ...transcript.grades.slice(-1).map((grade) => ({ ...grade, step })),
          ],
        };
        const [before, after] = [
          processMetrics(transcript, scoringReference),
          processMetrics(longer, scoringReference),
        ];
        for (const measure of ['endings', 'debugging', 'waste', 'plan'] as const) {
          expect(after[measure]).toEqual(before[measure]);
        }
        expect(after.grounding.ungrounded).toBe(before.grounding.ungrounded);
        if (transcript.grades.length > 1) expect(after.progress.regret).toEqual(before.progress.regret);
      }),
    );
  });
});
