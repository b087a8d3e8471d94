import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { agentByName } from '../src/agents/index.ts';
import { ModelRegistry, systemClock } from '../src/models/index.ts';
import { makePlan, replayRun, runExperiment } from '../src/runs/index.ts';
import { ExperimentFile, type ObjectId, ProviderSettings } from '../src/schema/index.ts';
import { checkRun, createExperiment, readTraceSync } from '../src/store/index.ts';
import { helpersFolder, TaskBench } from './fixtures/fixture-task.ts';
import { stepsPerRun } from './fixtures/many-runs/protocol.ts';
import { startLoadServer } from './fixtures/many-runs/server.ts';

const bench = new TaskBench();
afterAll(() => bench[Symbol.dispose]());

const cap = 8;
const models = [
  ...['anthropic/claude-test-1', 'openai/gpt-5-test', 'chat/gpt-4o-test', 'google/gemini-test'],
  'openai-compatible/llama-test',
];

test('a hundred runs share a server that fails one request in five: all finish, none loses a step, no limit is exceeded', async () => {
  const resources = await bench.provision();
  await using server = await startLoadServer({
    ...{ latencyMs: 10, faultyShare: 0.2, seed: 3, fileLength: 2000 },
  });
  const provider = { concurrent: cap, stall_seconds: 2, attempts: 20 };
  // A limiter belongs to a provider: each format has its own.
  const chat = { ...provider, kind: 'openai', base_url: server.variables.OPENAI_BASE_URL };
  const providers = z.record(z.string(), ProviderSettings).parse({
    ...{ anthropic: provider, openai: provider, google: provider, 'openai-compatible': provider, chat },
  });
  const wanted = { name: 'crowd', tasks: ['sums'], agents: ['tools', 'research'], models, seeds: 10 };
  const file = ExperimentFile.parse({
    ...wanted,
    ...{ providers, parallel: 100, sandbox: 'none', grade: 'none' },
  });
  const agents = wanted.agents.map((name) => ({ agent: agentByName(name), options: {} }));
  const plan = makePlan(file, [{ task: resources.task, verified: true }], agents, '0');
  const experiment = createExperiment(join(bench.experiments, plan.name), plan);
  const registry = new ModelRegistry({
    ...{ providers, variables: server.variables, folder: bench.folder },
    // Waits between tries are chosen from the shorter ones, so that the test does not take minutes.
    clock: { ...systemClock, random: () => Math.random() / 10 },
  });
  const begun: number[] = [];
  using turns = countTurns();
  const results = await runExperiment(plan, {
    ...{ experiment, registry, helpersFolder, versions: {}, incomplete: 'continue' },
    resources: new Map([[resources.task.file.id, resources]]),
    signal: new AbortController().signal,
    onProgress: ({ kind }) => {
      if (kind !== 'run_started') return;
      begun.push(turns.count);
      // Counting keeps a core busy.
      if (begun.length === plan.runs.length) turns[Symbol.dispose]();
    },
  });

  expect(results.flatMap(({ problem }) => problem ?? [])).toEqual([]);
  expect(results).toHaveLength(100);
  // Beginning them all at once would block the event loop for seconds.
  expect(new Set(begun).size).toBe(100);
  const report = await server.report();
  expect(report.faulty).toBeGreaterThan(0.15 * report.requests);
  expect(Object.keys(report.faults).length).toBeGreaterThan(10);
  expect(Object.keys(report.peaks)).toHaveLength(models.length);
  for (const peak of Object.values(report.peaks)) expect(peak).toBeLessThanOrEqual(cap);
  const verified = new Map<ObjectId, number>();
  const failures: string[] = [];
  for (const [index, { spec, record }] of results.entries()) {
    expect(record, spec.id).toMatchObject({
      ...{ status: 'finished', end: { reason: 'final_answer' }, steps: stepsPerRun },
    });
    const folder = experiment.runFolder(spec.id);
    expect(await checkRun(folder, { verified }), spec.id).toEqual([]);
    const { events } = readTraceSync(folder.tracePath);
    const steps = events.filter((event) => event.kind === 'step_finished').map(({ step }) => step);
    expect(steps, spec.id).toEqual(Array.from({ length: stepsPerRun }, (_, step) => step + 1));
    const calls = events.filter((event) => event.kind === 'model_call');
    expect(calls.map(({ call }) => call)).toEqual(calls.map((_, call) => call + 1));
    expect(calls.filter(({ failure }) => failure !== null)).toEqual([]);
    expect(calls.filter(({ purpose }) => purpose === 'act').length, spec.id).toBe(stepsPerRun);
    failures.push(...calls.flatMap(({ attempts }) => attempts.map(({ failure }) => failure)));
    if (index % 10 !== 0) continue;
    const replay = await replayRun(spec, folder, agentByName(spec.agent), resources.task);
    expect(replay, spec.id).toMatchObject({ steps: stepsPerRun, calls: calls.length, diverged: null });
  }
  const { stall = 0, 'slow-headers': slow = 0 } = report.faults;
  // Slow headers are not a failure. On a busy machine the server, which has low priority, may be silent without a fault.
  const timedOut = failures.filter((failure) => failure === 'timed_out').length;
  expect(failures.length).toBeGreaterThanOrEqual(report.faulty - slow);
  expect(failures.length - (report.faulty - slow)).toBeLessThanOrEqual(timedOut - stall);
});

/** Counts the turns of the event loop. */
function countTurns(): Disposable & { count: number } {
  const turns = { count: 0, [Symbol.dispose]: () => clearImmediate(next) };
  const turn = () => {
    turns.count += 1;
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  return turns;
}
