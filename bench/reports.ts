import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { z } from 'zod';
import type { Benchmark, Measurement } from './benchmark.ts';
import { generateRuns, traceBytes } from './generated-runs.ts';

export const ReportCost = z.object({
  exitCode: z.number(),
  seconds: z.number(),
  cpuSeconds: z.number(),
  peakBytes: z.number(),
});
export type ReportCost = z.infer<typeof ReportCost>;

export const reports: Benchmark = {
  name: 'reports',
  summary: 'a report over many runs: with nothing known of them, and again',
  async measure({ quick, scratch, log }) {
    const wanted = { runs: quick ? 40 : 2000, steps: 50, distinct: quick ? 8 : 40 };
    log(`generating ${wanted.runs} runs`);
    const experiment = await generateRuns(join(scratch, 'generated'), wanted);
    const size = `${wanted.runs} runs of ${wanted.steps} steps, ${(traceBytes(experiment) / 1e6).toFixed(0)} MB of traces`;
    log('the first report');
    const cold = makeReport(scratch);
    log('again');
    const warm = makeReport(scratch);
    return [
      ...costOf('the first report', cold, 30, size),
      ...costOf('the same again', warm, 5, 'from the index; with the start of the process'),
    ];
  },
};

function makeReport(folder: string): ReportCost {
  const child = join(import.meta.dirname, 'children/report.ts');
  const { stderr, status } = spawnSync(process.execPath, [child, folder, 'generated'], {
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const line = stderr.trimEnd().split('\n').at(-1) ?? '';
  if (status !== 0 || !line.startsWith('{')) throw new Error(`the report ended with ${status}:\n${stderr}`);
  const cost = ReportCost.parse(JSON.parse(line));
  if (cost.exitCode !== 0) throw new Error(`mlab report ended with ${cost.exitCode}:\n${stderr}`);
  return cost;
}

function costOf(
  what: string,
  { seconds, cpuSeconds, peakBytes }: ReportCost,
  atMost: number,
  note: string,
): Measurement[] {
  return [
    {
      what,
      value: seconds,
      unit: 's',
      atMost,
      note: `${cpuSeconds.toFixed(1)} s of processor time; ${note}`,
    },
    { what: 'its memory', value: peakBytes, unit: 'bytes', atMost: 500e6, note: 'at most at any time' },
  ];
}
