import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { examplePlan, exampleRecord, exampleSpec } from '../../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { BranchId, type RunRecord } from '../../schema/index.ts';
import { addDecision, createExperiment, decisionName, openExperiment } from '../../store/index.ts';
import { TraceIndex } from '../trace/trace-index.ts';
import { KnownExperiment } from './known-experiment.ts';

/** A run with this record, and its line as the viewer finds it now. */
function recordedRun(changes: Partial<RunRecord>) {
  const root = temporaryFolder();
  const folder = join(root, 'first');
  const run = createExperiment(folder, examplePlan(['only'])).runFolder('only');
  const lease = run.lock();
  run.writeRecordSync(exampleRecord({ spec: exampleSpec('only'), ...changes }));
  lease.release();
  const known = new KnownExperiment({ id: 'first', name: 'first', root, folder, only: null });
  const lineNow = async () => {
    await known.refresh(new TraceIndex());
    return known.lineOf('only');
  };
  return { run, lineNow, known };
}

test('a run that seemed interrupted is shown as running when its process shows that it is alive', async () => {
  const { run, lineNow } = recordedRun({ status: 'running' });
  await run.openTrace().close();
  expect(await lineNow()).toMatchObject({ status: 'interrupted' });
  using _lease = run.lock();
  expect(await lineNow()).toMatchObject({ status: 'running' });
});

test('a run that waits for a decision no longer says so when somebody has decided', async () => {
  const proposal = { branch: BranchId.parse('main'), step: 3, action: 'Edit File' };
  const decision = decisionName({ ...proposal, args: '{}' });
  const { run, lineNow } = recordedRun({ status: 'waiting', waits_for: [{ ...proposal, decision }] });
  expect(await lineNow()).toMatchObject({ why: 'waits for a decision on step 3 (Edit File)' });
  addDecision(run, decision, { v: 1, time: 1, actor: 'Ada', verdict: 'allow', reason: '' });
  expect((await lineNow())?.why).toMatch(/^decided on step 3/);
});

test('a branch whose file is damaged hides no other, and is shown when it is repaired', async () => {
  const { run, lineNow, known } = recordedRun({ status: 'finished' });
  const experiment = openExperiment(known.place.folder);
  const parent = { experiment: experiment.name, run: run.id, step: 1 };
  const branch = (id: string) => ({ ...exampleSpec(id), parent });
  experiment.addBranch({ v: 1, created: 1, mlab: '0', actor: 'Ada', run: branch('only-from-1') });
  experiment.addBranch({ v: 1, created: 2, mlab: '0', actor: 'Ada', run: branch('only-from-2') });
  const damaged = join(known.place.folder, 'branches/only-from-1.json');
  const whole = readFileSync(damaged);
  writeFileSync(damaged, '{');
  await lineNow();
  expect(known.branches.map(({ run: id }) => id)).toEqual(['only-from-2']);
  writeFileSync(damaged, whole);
  await lineNow();
  expect(known.branches.map(({ run: id }) => id)).toEqual(['only-from-1', 'only-from-2']);
});
