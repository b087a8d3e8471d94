import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { startCrowdServer } from '../test/fixtures/crowd/server.ts';
import { type BenchContext, type Benchmark, type Measurement, median } from './benchmark.ts';

/** What one crowd came to. */
export const CrowdLook = z.object({
  problems: z.int(),
  seconds: z.number(),
  cpuSeconds: z.number(),
  calls: z.int(),
  /** Of each call: from the request that was answered until the answer was recorded, in ms. */
  latencies: z.array(z.number()),
  /** The longest times for which the event loop did not come round, longest first; and this thread's own work in them. */
  blocks: z.array(z.object({ ms: z.number(), cpuMs: z.number() })),
});
export type CrowdLook = z.infer<typeof CrowdLook>;

/** Of the server, before its headers, in ms. */
const latencyMs = 50;
const runs = 100;
/** Calls at a time, and as many runs: a call never waits for another. */
const cap = 8;

export const crowd: Benchmark = {
  name: 'crowd',
  summary: '100 runs at a time that ask one model server: throughput, cost of a call, blocked event loop',
  async measure(context) {
    const rounds = context.quick ? 1 : 3;
    const count = context.quick ? 8 : runs;
    // A server without faults: nothing but the calls themselves.
    const clean: CrowdLook[] = [];
    const faulty: CrowdLook[] = [];
    for (let round = 1; round <= rounds; round++) {
      clean.push(await look(context, { name: `clean-${round}`, count, faultyShare: 0 }));
      faulty.push(await look(context, { name: `faulty-${round}`, count, faultyShare: 0.2 }));
    }
    return [...measurementsOf(clean, 'no faults'), ...measurementsOf(faulty, '20 % faults')];
  },
};

interface Asked {
  name: string;
  count: number;
  faultyShare: number;
}

/** One crowd, in a process of its own: nothing else blocks its event loop. */
async function look(
  { scratch, cache, log, signal }: BenchContext,
  { name, count, faultyShare }: Asked,
): Promise<CrowdLook> {
  log(`${name}: ${count} runs`);
  await using server = await startCrowdServer({ latencyMs, faultyShare, seed: 1, fileLength: 20_000 });
  const program = join(import.meta.dirname, 'children/crowd.ts');
  const argv = [program, join(scratch, name), cache, String(count), String(cap)];
  const env = { ...process.env, ...server.variables };
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'], signal, env });
  const [printed] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (child.exitCode !== 0) throw new Error(`the child ended with ${child.exitCode ?? child.signalCode}`);
  return CrowdLook.parse(JSON.parse(printed));
}

function measurementsOf(looks: readonly CrowdLook[], how: string): Measurement[] {
  const told = { atMost: null };
  const longest = looks.map(({ blocks }) => blocks[0]?.ms ?? 0);
  const longestWork = looks.map(({ blocks }) => Math.max(0, ...blocks.map(({ cpuMs }) => cpuMs)));
  const over = looks.map(({ blocks }) => blocks.filter(({ ms }) => ms >= 50).length);
  const calls = looks.reduce((sum, look) => sum + look.calls, 0);
  const each = (of: (look: CrowdLook) => number) => median(looks.map(of));
  const latencies = looks.flatMap((look) => look.latencies);
  return [
    {
      ...{ what: `runs that did not end with their answer, ${how}`, unit: '', atMost: 0 },
      ...{ value: looks.reduce((sum, { problems }) => sum + problems, 0), note: `${calls} calls in all` },
    },
    {
      ...{ what: `longest time that the event loop was blocked, ${how}`, unit: 'ms', atMost: 50 },
      ...{ value: median(longest), note: `median of ${looks.length}: ${longest.map(rounded).join(', ')}` },
    },
    {
      ...{ what: `of it at work itself, ${how}`, unit: 'ms', ...told, value: median(longestWork) },
      note: `${longestWork.map(rounded).join(', ')}; the rest is others on the machine, and the disk`,
    },
    {
      ...{ what: `times of 50 ms or more, ${how}`, unit: '', ...told, value: median(over) },
      note: over.join(', '),
    },
    {
      ...{ what: `calls a second, ${how}`, unit: '', ...told },
      value: each(({ calls: made, seconds }) => made / seconds),
      note: `at most ${cap} at a time, ${latencyMs} ms each: no more than ${(cap * 1000) / latencyMs}`,
    },
    {
      ...{ what: `processor time of mlab, a call, ${how}`, unit: 'ms', ...told },
      value: each(({ cpuSeconds, calls: made }) => (1000 * cpuSeconds) / made),
      note: 'with its step, the trace and the snapshot',
    },
    {
      ...{ what: `a call beyond the server's latency, ${how}`, unit: 'ms', ...told },
      value: median(latencies) - latencyMs,
      note: 'median over all calls, of the try that was answered',
    },
  ];
}

function rounded(milliseconds: number): string {
  return String(Math.round(milliseconds));
}
