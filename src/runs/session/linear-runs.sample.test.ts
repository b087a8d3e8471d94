import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { helpersFolder, TaskBench } from '../../../test/fixtures/fixture-task.ts';
import { linearAgent } from '../../../test/fixtures/store/linear-agent.ts';
import { traceText } from '../../../test/fixtures/store/trace-text.ts';
import { ModelRegistry } from '../../models/index.ts';
import type { RunSpec } from '../../schema/index.ts';
import {
  checkRun,
  openExperiment,
  type RunFolder,
  readTraceSync,
  resolveText,
  stepsOf,
} from '../../store/index.ts';
import { executeRun, replayRun, type TaskResources } from '../index.ts';

/** Runs as mlab recorded them when each had one history: one that ended, one that was killed in step 5, one forked at step 4. */
const recorded = join(import.meta.dirname, '../../../test/fixtures/store/linear');

const bench = new TaskBench();
let resources: TaskResources;

beforeAll(async () => {
  resources = await bench.provision();
  cpSync(recorded, bench.experiments, { recursive: true });
  writeFileSync(join(bench.folder, 'replies.jsonl'), '{"repeat":true,"text":"Write it."}');
});
afterAll(() => bench[Symbol.dispose]());

function openRun(name: string, index = 0): { spec: RunSpec; folder: RunFolder } {
  const experiment = openExperiment(join(bench.experiments, name));
  const spec = experiment.plan.runs[index];
  if (spec === undefined) throw new Error(`the plan of ${name} is empty`);
  return { spec, folder: experiment.runFolder(spec.id) };
}

function observationsOf(folder: RunFolder): string[] {
  return stepsOf(readTraceSync(folder.tracePath).events).map(({ finished }) =>
    resolveText(folder.objects, finished.observation).replaceAll(/\d+\.\d s/g, 'S'),
  );
}

async function resume(spec: RunSpec, folder: RunFolder) {
  using _lock = folder.lock();
  const registry = new ModelRegistry({ variables: {}, folder: bench.folder });
  return await executeRun(spec, {
    ...{ folder, resources, helpersFolder, agent: linearAgent, reference: null, versions: {}, threads: 1 },
    models: { registry, shared: null },
    signal: new AbortController().signal,
    onProgress: () => {},
  });
}

test.each(['linear', 'linear-fork'])(
  'an ended run of %s is complete and replays to the same steps',
  async (name) => {
    const { spec, folder } = openRun(name);
    expect(await checkRun(folder)).toEqual([]);
    expect(await replayRun(spec, folder, linearAgent, resources.task)).toEqual({
      ...{ run: spec.id, steps: 12, calls: 3, diverged: null },
    });
  },
);

test('an ended run stays as it is: nothing is repeated, and nothing is added', async () => {
  const { spec, folder } = openRun('linear');
  const before = readTraceSync(folder.tracePath).events;
  expect(await resume(spec, folder)).toMatchObject({ status: 'finished', steps: 12 });
  expect(readTraceSync(folder.tracePath).events).toEqual(before);
});

test('a killed run resumes with the interrupted step, and ends like an undisturbed run', async () => {
  const { spec, folder } = openRun('linear', 1);
  const before = traceText(folder.tracePath);
  const replayed = await replayRun(spec, folder, linearAgent, resources.task);
  expect(replayed).toMatchObject({ steps: 4, calls: 2, diverged: null });
  expect(await resume(spec, folder)).toMatchObject({ status: 'finished', steps: 12 });
  const whole = before.slice(0, before.lastIndexOf('\n') + 1);
  expect(traceText(folder.tracePath).slice(0, whole.length)).toBe(whole);
  expect(observationsOf(folder)).toEqual(observationsOf(openRun('linear').folder));
  expect(await checkRun(folder)).toEqual([]);
});
