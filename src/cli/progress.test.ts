import { expect, test } from 'vitest';
import { exampleGrade, examplePlan, exampleRecord } from '../../test/fixtures/store/examples.ts';
import { BranchId } from '../schema/index.ts';
import { createProgressView } from './progress.ts';

const plan = examplePlan();
const [run] = plan.runs;
if (run === undefined) throw new Error('the example has a run');

function viewWith(showsResults: boolean) {
  const lines: string[] = [];
  const context = {
    ...{ log: (line: string) => void lines.push(line), verbosity: 'normal' as const },
    ...{ command: 'npx mlab', placeFlags: ' --dir here', printer: { print: () => {} } },
  };
  return { lines, view: createProgressView(plan, false, context, { showsResults }) };
}

test('a run that waits for a decision says what to type', () => {
  const { lines, view } = viewWith(false);
  const waits_for = [{ branch: BranchId.parse('main'), step: 3, action: 'Execute Script', decision: 'x' }];
  view.show({
    kind: 'run_ended',
    run,
    record: exampleRecord({ spec: run, status: 'waiting', end: null, waits_for }),
  });
  const decide = `npx mlab decide ${run.experiment}/${run.id}`;
  expect(lines[1]).toContain('waits for a decision on step 3 (Execute Script); see it with');
  expect(lines[1]).toContain(
    `${decide} --dir here, then ${decide} allow --dir here or ${decide} deny --reason`,
  );
});

test.each([
  ['no_step' as const, 'it had not taken a step yet'],
  ['no_session' as const, 'its program can not be resumed'],
])('a run of a program that starts over says why: %s', (again, why) => {
  const { lines, view } = viewWith(false);
  view.show({ kind: 'run_started', run, resumed: false, again });
  expect(lines.at(-1)).toBe(`${run.id}: started again from the beginning, as ${why}`);
});

test('a person who decides on each action sees the result of the previous one', () => {
  const budget = {
    steps_used: 1,
    steps_left: 2,
    seconds_used: 1,
    seconds_left: 9,
    tokens_left: null,
    money_left: null,
  };
  const unused = {
    exitCode: 0,
    durationMs: 5,
    submission: { present: false, written_at_step: null, stale: false },
  };
  const result = {
    step: 1,
    status: 'ok' as const,
    observation: 'epoch 1\u001b[2J',
    budget,
    ended: false,
    ...unused,
  };
  const shownWith = (showsResults: boolean) => {
    const { lines, view } = viewWith(showsResults);
    const progress = { kind: 'step_finished' as const, step: 1, action: 'Execute Script', result };
    view.show({ kind: 'run_step', run, progress });
    return lines.slice(1);
  };
  expect(shownWith(true)).toEqual([expect.stringMatching(/: step 1: ok\nepoch 1(?!\u001b)/)]);
  expect(shownWith(false)).toEqual([]);
});

test('once runs are over, it is said how many of them are graded', () => {
  const { lines, view } = viewWith(false);
  for (const each of plan.runs)
    view.show({ kind: 'run_ended', run: each, record: exampleRecord({ spec: each, status: 'finished' }) });
  view.show({ kind: 'run_graded', run, grades: [{ ...exampleGrade('a' as never), seconds: 60 }] });
  expect(lines.filter((line) => line.includes('runs ended'))).toEqual([
    '2 of 2 runs ended, 0 of 2 graded',
    '2 of 2 runs ended, 1 of 2 graded',
  ]);
});
