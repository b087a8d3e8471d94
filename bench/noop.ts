import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { UserError } from '../src/lib/errors.ts';
import type { Benchmark, Measurement } from './benchmark.ts';
import { provision, requireSandbox } from './task-resources.ts';

/** The memory of the process after so many runs. */
const NoopUsage = z.object({
  runs: z.int(),
  cpuMs: z.number(),
  childrenCpuMs: z.number().nullable(),
  heapBytes: z.number(),
  residentBytes: z.number(),
});
export type NoopUsage = z.infer<typeof NoopUsage>;

const Report = z.object({ usages: z.tuple([NoopUsage, NoopUsage]), problem: z.string().nullable() });

/** The result of a run, which the experiment returns at its end, is a few kB. More than this would be a leak. */
const maxHeapBytesARun = 8_192;

export const noop: Benchmark = {
  name: 'noop',
  summary: '500 runs that do nothing: memory and processor time a run',
  async measure({ quick, scratch, cache, log, signal }) {
    const [first, last] = quick ? [5, 15] : [100, 500];
    await requireSandbox();
    await provision(cache, signal);
    log(`${last} runs in one process`);
    const program = join(import.meta.dirname, 'children/noop.ts');
    const child = spawn(
      process.execPath,
      ['--expose-gc', program, join(scratch, 'noop'), cache, String(first), String(last)],
      { stdio: ['ignore', 'pipe', 'inherit'], signal },
    );
    const [printed] = await Promise.all([text(child.stdout), once(child, 'close')]);
    if (child.exitCode !== 0) throw new Error(`the child ended with ${child.exitCode ?? child.signalCode}`);
    const { usages, problem } = Report.parse(JSON.parse(printed));
    if (problem !== null) throw new UserError('no_runs', problem, 'mlab doctor tells what is missing.');
    return measurementsOf(...usages);
  },
};

function measurementsOf(early: NoopUsage, late: NoopUsage): Measurement[] {
  const runs = late.runs - early.runs;
  const perRun = (of: (usage: NoopUsage) => number) => (of(late) - of(early)) / runs;
  const between = `from run ${early.runs} to run ${late.runs}`;
  const children = early.childrenCpuMs === null ? [] : [perRun((usage) => usage.childrenCpuMs ?? 0)];
  return [
    {
      ...{
        what: 'processor time of mlab, a run',
        value: perRun(({ cpuMs }) => cpuMs),
        unit: 'ms',
        atMost: 20,
      },
      note: `user and system, ${between}`,
    },
    {
      ...{
        what: 'live memory, more with each run',
        value: perRun(({ heapBytes }) => heapBytes),
        unit: 'bytes',
      },
      atMost: maxHeapBytesARun,
      note: `after collecting garbage, ${between}; the list of results is part of it`,
    },
    {
      ...{ what: 'resident memory, more with each run', value: perRun(({ residentBytes }) => residentBytes) },
      ...{ unit: 'bytes', atMost: null },
      note: `${(late.residentBytes / 1e6).toFixed(0)} MB after run ${late.runs}`,
    },
    ...children.map((value) => ({
      ...{ what: 'processor time of what it starts, a run', value, unit: 'ms', atMost: null },
      note: "the sandbox's trial and the like",
    })),
  ];
}
