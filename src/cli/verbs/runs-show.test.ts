import { join } from 'node:path';
import { assert, expect, test } from 'vitest';
import { makeBranchedRun } from '../../../test/fixtures/store/branched-run.ts';
import {
  exampleGrade,
  examplePlan,
  exampleRecord,
  runEnded,
  sessionStarted,
  stepFinished,
  stepStarted,
} from '../../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { BranchId, type ObjectId } from '../../schema/index.ts';
import { createExperiment } from '../../store/index.ts';
import { createContext } from '../context.ts';
import { runsShow } from './runs-show.ts';

test('the steps of all branches are shown as used, as the limit counts them', async () => {
  const folder = temporaryFolder();
  const { run } = await makeBranchedRun(folder);
  const context = createContext({ dir: folder }, {}, '0', new AbortController().signal);
  const { text } = await runsShow.run(context, [`branched/${run.id}`], {});
  expect(text).toContain('6 steps in 3 branches, 3 of them in the selected history, ');
});

test('a branch without steps of its own has the score of the step that it was forked at, and the branch that went on has not', async () => {
  const folder = temporaryFolder();
  const { run, snapshots } = await makeBranchedRun(folder);
  const [, forked] = snapshots.main;
  assert(forked !== undefined);
  {
    using _lease = run.lock();
    await using trace = run.openTrace();
    const branch = BranchId.parse('b3');
    trace.append({ kind: 'branch_forked', branch, origin: { branch: 'main', step: 1 }, snapshot: forked });
    trace.append({ kind: 'branch_selected', branch });
    trace.append({ ...runEnded(), branch, snapshot: forked });
  }
  run.appendGrade({ ...exampleGrade(forked), grader: 'f'.repeat(64), step: 1, score: 0.7 });
  const context = createContext({ dir: folder }, {}, '0', new AbortController().signal);
  const { text, json } = await runsShow.run(context, [`branched/${run.id}`], {});
  expect(text).toMatch(
    /^branch b3, forked from main step 1: 0 steps, score 0.7.*\(selected, shown below\)$/m,
  );
  expect(text).toMatch(/^branch main: 3 steps$/m);
  expect(json).toMatchObject({ branches: [{ id: 'main', score: null }, {}, {}, { id: 'b3', score: 0.7 }] });
});

test.each([['last'], ['@last'], ['--step']])('the last step is shown by its name: %s', async (way) => {
  const folder = temporaryFolder();
  const { run } = await makeBranchedRun(folder);
  const context = createContext({ dir: folder }, {}, '0', new AbortController().signal);
  const parse = runsShow.flags?.find(({ flags }) => flags.startsWith('--step'))?.parse;
  const shown = await runsShow.run(
    context,
    [`branched/${run.id}${way === '@last' ? way : ''}`, ...(way === 'last' ? [way] : [])],
    way === '--step' ? { step: parse?.('last', '--step') } : {},
  );
  expect(shown.json).toMatchObject({ step: 3 });
});

test.each([
  [24_700, true],
  [800, false],
])(
  'the last output of a program is shown if the time ended it in a turn of %i ms: %s',
  async (ms, isShown) => {
    const folder = temporaryFolder();
    const run = createExperiment(join(folder, 'loops'), examplePlan()).runFolder('digits-baseline-0');
    const snapshot = 'a'.repeat(64) as ObjectId;
    {
      using _lease = run.lock();
      await using trace = run.openTrace();
      trace.append(sessionStarted(snapshot));
      trace.append(stepStarted(1));
      trace.append(stepFinished(1, snapshot, { duration_ms: ms }));
      trace.append({ kind: 'note', entries: { 'Program output': { text: 'before the loop\n' } } });
      trace.append({ ...runEnded(), reason: 'time_limit' });
      run.writeRecordSync(exampleRecord({ end: { reason: 'time_limit', message: '' } }));
    }
    const context = createContext({ dir: folder }, {}, '0', new AbortController().signal);
    const { text } = await runsShow.run(context, [`loops/${run.id}`], {});
    expect(text?.includes('It printed last:\nbefore the loop')).toBe(isShown);
  },
);
