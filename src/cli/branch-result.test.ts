import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  examplePlan,
  exampleRecord,
  exampleSpec,
  sessionStarted,
} from '../../test/fixtures/store/examples.ts';
import { WrittenRun } from '../../test/fixtures/store/recorded-run.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { makeBranchPlan } from '../runs/index.ts';
import { BranchId } from '../schema/index.ts';
import { createExperiment } from '../store/index.ts';
import { branchResult } from './branch-result.ts';
import { createContext } from './context.ts';

test('a branch that waits says what to type, after the result that its run keeps', async () => {
  const folder = temporaryFolder();
  const spec = exampleSpec();
  const experiment = createExperiment(join(folder, 'first'), examplePlan([spec.id]));
  const run = new WrittenRun(experiment.runFolder(spec.id), spec);
  await run.session(2, 'final_answer');
  const problems = [{ code: 'missing_file' as const, message: 'submission.csv is missing.' }];
  run.grade(2, 0, { valid: false, score: null, problems });
  const asked = { name: null, approveLater: true, actor: 'Ada', mlab: '0' };
  const branch = experiment.addBranch(makeBranchPlan(spec, { run: spec.id, step: 1 }, asked));
  const own = experiment.runFolder(branch.run.id);
  {
    using _lease = own.lock();
    await using trace = own.openTrace();
    trace.append(sessionStarted(run.snapshot(1)));
  }
  const waits_for = [{ branch: BranchId.parse('main'), step: 2, action: 'Edit File', decision: 'x' }];
  own.writeRecordSync(exampleRecord({ spec: branch.run, status: 'waiting', waits_for }));
  const context = createContext({ dir: folder }, {}, '1', new AbortController().signal);
  const problem = 'waits for a decision on step 2 (Edit File)';
  const { text } = branchResult(context, experiment, branch, [{ spec: branch.run, record: null, problem }]);
  expect(text).toContain('keeps its result, no valid submission: submission.csv is missing.\nReports do');
  expect(text).toContain(`decide first/${branch.run.id} allow`);
});
