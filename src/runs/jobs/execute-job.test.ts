import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fixtureTasks, helpersFolder } from '../../../test/fixtures/fixture-task.ts';
import { exampleSpec } from '../../../test/fixtures/store/examples.ts';
import { WrittenRun } from '../../../test/fixtures/store/recorded-run.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { agentOfRun, programVersion } from '../../agents/index.ts';
import type { Plan, RunSpec } from '../../schema/index.ts';
import { createExperiment } from '../../store/index.ts';
import { loadTask } from '../../tasks/index.ts';
import { executeJob } from './execute-job.ts';
import type { JobHost } from './job-host.ts';
import { makeRunJob } from './make-jobs.ts';

const sums = loadTask('sums', [fixtureTasks]);

test('a run of a program that was killed after its last event has finished, and is not executed again', async () => {
  const folder = temporaryFolder();
  const agent = await agentOfRun({ ...exampleSpec(), agent: 'claude-code' });
  const run: RunSpec = {
    ...{ ...exampleSpec(), agent: 'claude-code', agent_options: {}, sandbox: 'none' },
    ...{ task: sums.file.id, task_version: sums.version, agent_version: programVersion(agent, {}) },
  };
  const plan: Plan = {
    ...{ v: 1, name: run.experiment, created: 0, mlab: '0', parallel: 1, grade: 'none', runs: [run] },
  };
  const experiment = createExperiment(join(folder, run.experiment), plan);
  const written = new WrittenRun(experiment.runFolder(run.id), run);
  await written.session(3, 'final_answer');
  written.record({ status: 'running', end: null });
  const settings = { plan, experiment, tasks: new Map([['sums', sums]]), threads: 1, mlab: '0' };
  const provisioning = { allow_unverified: false };
  const job = makeRunJob(run, { ...settings, provisioning, modelsFolder: folder }, false);
  const host = {
    ...{ experiment: () => experiment, helpersFolder, versions: { mlab: '0' }, models: () => undefined },
    resources: async () => ({ task: sums, prepared: { manifest: { files: [] } } }),
  };
  const { record } = await executeJob(job, host as unknown as JobHost, {
    ...{ signal: new AbortController().signal, onProgress: () => {} },
  });
  expect(record).toMatchObject({ status: 'finished', steps: 3, end: { reason: 'final_answer' } });
  expect(existsSync(join(experiment.folder, 'runs/.discarded'))).toBe(false);
});
