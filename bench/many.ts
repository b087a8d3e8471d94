import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { flagsForRuns } from '../scripts/project-node.mjs';
import { keepPausesShort } from '../src/lib/short-pauses.ts';
import { startLoadServer } from '../test/fixtures/many-runs/server.ts';
import { type BenchContext, type Benchmark, type Measurement, median, quantile } from './benchmark.ts';
import { keepFreeMemory } from './kept-memory.ts';

/** The results of many concurrent runs. */
export const LoadMeasurement = z.object({
  problems: z.int(),
  /** Until the last run with a small workspace ended. */
  seconds: z.number(),
  /** Of all threads of the process, and of the one that executes the runs. */
  cpuSeconds: z.number(),
  mainCpuSeconds: z.number(),
  /** Of the runs with small workspaces. */
  calls: z.int(),
  /** How late a timer of every millisecond fired, in ms: by `monitorEventLoopDelay`. */
  delayP99: z.number(),
  /** The longest blocks of the event loop, longest first; and this thread's own work in them. */
  blocks: z.array(z.object({ ms: z.number(), cpuMs: z.number(), at: z.number() })),
  /** For the steps of the runs with small workspaces: their duration besides the action's own work, in ms. */
  overheads: z.array(z.number()),
  /** The same for the run with the large workspace, once it was filled. */
  largeOverheads: z.array(z.number()),
  peakBytes: z.number(),
});
export type LoadMeasurement = z.infer<typeof LoadMeasurement>;

/** How the runs are made; an argument of its process. */
export const LoadOptions = z.object({
  folder: z.string(),
  cache: z.string(),
  runs: z.int(),
  /** In the workspace of the first run. */
  largeFiles: z.int(),
});
export type LoadOptions = z.infer<typeof LoadOptions>;

/** Of the server, before its headers. */
const latencyMs = 1_000;

export const many: Benchmark = {
  name: 'many',
  summary:
    '500 runs at once in one process, one of them with 100,000 files: event loop, calls a second, memory',
  async measure(context) {
    const [runs, edits, largeFiles] = context.quick ? [10, 1, 2_000] : [500, 6, 100_000];
    using _ = context.quick ? null : keepFreeMemory(context.log);
    const alone = await measure(context, 'alone', { runs, edits, largeFiles: 0 });
    const beside = await measure(context, 'beside', { runs, edits, largeFiles });
    const ratio = beside.seconds / alone.seconds;
    return [
      ...measurementsOf(alone, `${runs} runs`),
      ...measurementsOf(beside, `one with ${largeFiles} files`),
      {
        ...{ what: 'time of the other runs beside it against without it', value: ratio, unit: 'times' },
        ...{ atMost: 1.2, note: 'until the last of them has ended' },
      },
      {
        ...{ what: 'step in the large workspace', value: median(beside.largeOverheads), unit: 'ms' },
        ...{ atMost: null, note: 'median of what the harness adds: looking at all files, and the snapshot' },
      },
    ];
  },
};

interface Asked {
  runs: number;
  edits: number;
  largeFiles: number;
}

/** The runs, in a separate process: nothing else blocks its event loop. */
async function measure(
  { scratch, cache, log, signal }: BenchContext,
  name: string,
  { runs, edits, largeFiles }: Asked,
): Promise<LoadMeasurement> {
  log(`${name}: ${runs} runs`);
  // The server stands for one on another machine.
  keepPausesShort();
  await using server = await startLoadServer({
    latencyMs,
    faultyShare: 0,
    seed: 1,
    fileLength: 2_000,
    edits,
  });
  const program = join(import.meta.dirname, 'children/many.ts');
  const options: LoadOptions = { folder: join(scratch, name), cache, runs, largeFiles };
  const argv = [...flagsForRuns, ...profiling(), program, JSON.stringify(options)];
  const env = { ...process.env, ...server.variables };
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'], signal, env });
  const [printed] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (child.exitCode !== 0) throw new Error(`the child ended with ${child.exitCode ?? child.signalCode}`);
  return LoadMeasurement.parse(JSON.parse(printed));
}

/** For finding what blocks: where profiles are written. */
function profiling(): string[] {
  const folder = process.env.MLAB_BENCH_PROFILES;
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`];
}

function measurementsOf(measured: LoadMeasurement, how: string): Measurement[] {
  const { blocks, calls, seconds, overheads } = measured;
  const common = { atMost: null };
  const longestWork = Math.max(0, ...blocks.map(({ cpuMs }) => cpuMs));
  const over = blocks.filter(({ ms }) => ms >= 50).length;
  return [
    {
      ...{ what: `runs that did not end with their answer, ${how}`, unit: '', atMost: 0 },
      ...{ value: measured.problems, note: `${calls} calls of runs with small workspaces` },
    },
    {
      ...{ what: `event loop delay, 99 of 100, ${how}`, value: measured.delayP99, unit: 'ms', atMost: 20 },
      note: 'monitorEventLoopDelay, resolution 1 ms',
    },
    {
      ...{ what: `longest block of the event loop, ${how}`, unit: 'ms', atMost: 50 },
      ...{ value: blocks[0]?.ms ?? 0, note: `${over} of 50 ms or more` },
    },
    {
      ...{ what: `of it at work itself, ${how}`, unit: 'ms', ...common, value: longestWork },
      note: 'the rest is others on the machine, and the disk',
    },
    {
      ...{ what: `milliseconds a call, ${how}`, value: (1000 * seconds) / calls, unit: 'ms' },
      ...{ atMost: 1000 / 150, note: `${(calls / seconds).toFixed(0)} calls a second; 150 are wanted` },
    },
    {
      ...{ what: `processor time of mlab, a call, ${how}`, unit: 'ms', ...common },
      value: (1000 * measured.cpuSeconds) / calls,
      note: `with its step; ${((1000 * measured.mainCpuSeconds) / calls).toFixed(1)} ms in the thread of the runs`,
    },
    {
      ...{ what: `what the harness adds to a step, ${how}`, value: median(overheads), unit: 'ms', ...common },
      note: `median; 99 of 100: ${quantile(overheads, 0.99).toFixed(0)} ms`,
    },
    {
      ...{ what: `peak memory, ${how}`, value: measured.peakBytes, unit: 'bytes', atMost: 1.5e9 },
      note: 'resident, of the whole process',
    },
  ];
}
