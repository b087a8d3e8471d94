import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { b1, makeBranchedRun } from '../../test/fixtures/store/branched-run.ts';
import {
  exampleGrade,
  examplePlan,
  exampleRecord,
  exampleSpec,
  runEnded,
  stepFinished,
  stepStarted,
} from '../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { get, startViewer } from '../../test/fixtures/viewer-place.ts';
import {
  ExperimentList,
  ExperimentName,
  RunId,
  RunPage,
  type RunParent,
  type RunSpec,
  StepPage,
  Timeline,
} from '../schema/index.ts';
import { createExperiment, forkRun, openExperiment } from '../store/index.ts';

const runs = '/api/experiments/branched/runs';

/** A branch that a person began at step 1, of two more steps, the last of them taken by that person. */
async function beginBranch(folder: string): Promise<RunSpec> {
  const experiment = openExperiment(folder);
  const parent: RunParent = { experiment: ExperimentName.parse('branched'), run: exampleSpec().id, step: 1 };
  const spec = { ...exampleSpec(), id: RunId.parse(`${parent.run}-from-1`), parent };
  experiment.addBranch({ v: 1, created: 1, mlab: '0', actor: 'Ada', run: spec });
  const run = experiment.runFolder(spec.id);
  using _lease = run.lock();
  await forkRun(experiment.runFolder(parent.run), parent, run);
  await using trace = run.openTrace();
  const snapshot = experiment.runFolder(parent.run).readGrades().grades[0]?.snapshot;
  if (snapshot === undefined) throw new Error('the run is graded');
  const replacement = { action: 'Write File', args: { text: '{"file_name":"x","content":"y"}' } };
  const { step, action, args } = stepStarted(2);
  trace.append({ kind: 'action_proposed', step, action, args });
  trace.append({
    kind: 'action_decided',
    step: 2,
    verdict: 'replace',
    actor: 'Ada',
    reason: 'Too slow.',
    replacement,
  });
  trace.append(stepStarted(2));
  trace.append(stepFinished(2, snapshot));
  trace.append({ ...stepStarted(3), actor: 'Ada' });
  trace.append(stepFinished(3, snapshot));
  trace.append({ ...runEnded(), snapshot });
  const shared = { steps: 1, seconds_used: 0, spent: { calls: 0, tokens: 0, money: 0, unpriced: 0 } };
  const end = { reason: 'final_answer' as const, message: '' };
  run.writeRecordSync(exampleRecord({ spec, status: 'finished', steps: 3, end, shared }));
  run.appendGrade({ ...exampleGrade(snapshot), step: 3, final: true, score: 0.7 });
  return spec;
}

test("the page of a run has the tree of its branches, the agent's and those of people, with their scores", async () => {
  const scratch = temporaryFolder();
  const { run } = await makeBranchedRun(join(scratch, 'experiments'));
  const spec = await beginBranch(join(run.folder, '../..'));
  const viewer = await startViewer([join(scratch, 'experiments')], scratch);
  const { experiments } = await get(viewer, '/api/experiments', ExperimentList);
  expect(experiments).toMatchObject([{ runs: 2, states: { finished: 1 } }]);
  let page = await get(viewer, `${runs}/${run.id}`, RunPage);
  // The evaluation is made in the background.
  while (page.pending) page = await get(viewer, `${runs}/${run.id}`, RunPage);
  expect(page.unreadable).toBeNull();
  expect(page).toMatchObject({ steps: 3, steps_used: 6 });
  expect(page.evaluation?.branches).toMatchObject([
    ...[{ branch: 'main', grade: { score: 0.5 } }, { branch: b1, selected: true, grade: { score: 0.9 } }, {}],
  ]);
  expect(page.begun).toEqual([
    {
      ...{ run: spec.id, actor: 'Ada', origin: { run: run.id, step: 1 }, steps: 2, status: 'finished' },
      ...{ end: 'final_answer', score: 0.7 },
    },
  ]);
  const branch = await get(viewer, `${runs}/${spec.id}`, RunPage);
  expect(branch).toMatchObject({
    steps: 3,
    unreadable: null,
    parent: { experiment: 'branched', run: run.id, step: 1 },
  });
});

test('the list of experiments adds up what forks used themselves, without what counts for the runs they began from', async () => {
  const scratch = temporaryFolder();
  const experiment = ExperimentName.parse('forks');
  const parent: RunParent = { experiment: ExperimentName.parse('first'), run: exampleSpec().id, step: 1 };
  const spec = { ...exampleSpec(), experiment, parent };
  const plan = { ...examplePlan(), name: experiment, runs: [spec] };
  const run = createExperiment(join(scratch, 'experiments/forks'), plan).runFolder(spec.id);
  mkdirSync(run.folder, { recursive: true });
  const spent = (money: number) => ({ calls: 1, tokens: 1000 * money, money, unpriced: 0 });
  const shared = { steps: 1, seconds_used: 2, spent: spent(3) };
  run.writeRecordSync(
    exampleRecord({ spec, status: 'failed', steps: 2, seconds_used: 5, spent: spent(4), shared }),
  );
  const viewer = await startViewer([join(scratch, 'experiments')], scratch);
  const { experiments } = await get(viewer, '/api/experiments', ExperimentList);
  expect(experiments).toMatchObject([{ used: { seconds: 3, tokens: 1000, money: 1 } }]);
});

test("the list of experiments names what branches used beside the sum of the runs, as a report's first line does", async () => {
  const scratch = temporaryFolder();
  const { run } = await makeBranchedRun(join(scratch, 'experiments'));
  const spec = await beginBranch(join(run.folder, '../..'));
  const spent = { calls: 1, tokens: 7000, money: 7, unpriced: 0 };
  const end = { reason: 'final_answer' as const, message: '' };
  openExperiment(join(run.folder, '../..'))
    .runFolder(spec.id)
    .writeRecordSync(exampleRecord({ spec, status: 'finished', steps: 3, end, spent }));
  const viewer = await startViewer([join(scratch, 'experiments')], scratch);
  const { experiments } = await get(viewer, '/api/experiments', ExperimentList);
  expect(experiments).toMatchObject([{ used: { money: 0 }, in_branches: { tokens: 7000, money: 7 } }]);
});

test('the pages of a step and of the timeline say what was performed, what it replaced, who decided why, and who took it', async () => {
  const scratch = temporaryFolder();
  const { run } = await makeBranchedRun(join(scratch, 'experiments'));
  const spec = await beginBranch(join(run.folder, '../..'));
  const viewer = await startViewer([join(scratch, 'experiments')], scratch);
  const step = (number: number) => get(viewer, `${runs}/${spec.id}/steps/${number}`, StepPage);
  expect(await step(1)).toMatchObject({ actor: null, decision: null });
  expect(await step(2)).toMatchObject({
    ...{ actor: null, action: 'Write File', arguments: [{ name: 'file_name' }, { name: 'content' }] },
    proposed: { action: 'Execute Script', arguments: [{ name: 'script_name' }] },
    decision: { actor: 'Ada', verdict: 'replace', reason: 'Too slow.' },
  });
  const { actions, action, replaced } = await get(viewer, `${runs}/${spec.id}/timeline`, Timeline);
  expect(action.map((index) => actions[index])).toEqual(['Execute Script', 'Write File', 'Execute Script']);
  expect(replaced).toEqual([{ step: 2, action: actions.indexOf('Execute Script') }]);
  expect(await step(3)).toMatchObject({ actor: 'Ada', decision: null });
});
