import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeExampleRun } from '../../test/fixtures/store/example-run.ts';
import { examplePlan, exampleRecord, exampleSpec } from '../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { ExperimentName, RunId } from '../schema/index.ts';
import { createExperiment } from '../store/index.ts';
import { evaluateAhead } from './evaluate-ahead.ts';
import { EvaluationIndex, indexName } from './evaluation-index.ts';
import { evaluationsOf } from './evaluations-of.ts';

/** An experiment of copies of the example run, so many that threads are started for them. */
async function manyRuns(folder: string, runs: number) {
  const { run } = await makeExampleRun(folder);
  const specs = Array.from({ length: runs }, (_, seed) => ({
    ...exampleSpec(),
    id: RunId.parse(`digits-baseline-${seed}`),
    seed,
  }));
  const plan = { ...examplePlan(), name: ExperimentName.parse('many'), runs: specs };
  const experiment = createExperiment(join(folder, 'many'), plan);
  cpSync(run.objects.folder, experiment.objects.folder, { recursive: true });
  for (const spec of specs) {
    const copy = experiment.runFolder(spec.id);
    cpSync(run.folder, copy.folder, { recursive: true });
    copy.writeRecordSync({ ...exampleRecord(), ...run.readRecord(), spec });
  }
  return experiment;
}

test('many runs are evaluated on all cores with the same result as in one thread, and unreadable ones are reported', async () => {
  const folder = temporaryFolder();
  const experiment = await manyRuns(folder, 120);
  const broken = experiment.runFolder('digits-baseline-7');
  mkdirSync(broken.folder, { recursive: true });
  writeFileSync(broken.recordPath, '{');
  const lines: string[] = [];
  const context = { log: (line: string) => lines.push(line), signal: new AbortController().signal };
  const alone = await evaluationsOf(context, [experiment]);
  for (const end of ['', '-shm', '-wal']) rmSync(join(folder, `${indexName}${end}`), { force: true });
  const together = await evaluationsOf({ ...context, allCores: true }, [experiment]);
  expect(together).toEqual(alone);
  expect(together.evaluations.map(({ seed }) => seed)).toEqual(
    Array.from({ length: 120 }, (_, seed) => seed).filter((seed) => seed !== 7),
  );
  expect(together.unreadable).toEqual(['many/digits-baseline-7']);
});

test('threads leave the evaluations of all readable runs in the index', async () => {
  const folder = temporaryFolder();
  const experiment = await manyRuns(folder, 100);
  let done = 0;
  await evaluateAhead(experiment, experiment.plan.runs, new AbortController().signal, () => done++);
  using index = new EvaluationIndex(folder);
  expect(experiment.plan.runs.filter(({ id }) => !index.has(experiment.runFolder(id).folder))).toEqual([]);
  expect(done).toBe(100);
});

test('an abort while threads evaluate stops them', async () => {
  const experiment = await manyRuns(temporaryFolder(), 120);
  const stopped = AbortSignal.abort();
  await expect(
    evaluationsOf({ log: () => {}, signal: stopped, allCores: true }, [experiment]),
  ).rejects.toThrow('aborted');
});
