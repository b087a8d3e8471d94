import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Benchmark, type Measurement, median } from './benchmark.ts';
import { generateRuns } from './generated-runs.ts';
import { launcher } from './task-resources.ts';

export const fleetList: Benchmark = {
  name: 'fleet-list',
  summary: 'how long `mlab runs ls` takes for runs that are queued, from starting the process to its end',
  async measure({ quick, scratch, log }) {
    const runs = quick ? 500 : 10_000;
    const measurements: Measurement[] = [];
    for (const begun of [0, quick ? 10 : 100]) {
      const name = `begun-${begun}`;
      log(`planning ${runs} runs, of which ${begun} have begun`);
      await generateRuns(join(scratch, name, 'generated'), { runs, steps: 20, distinct: 8, begun });
      const folder = join(scratch, name);
      timeList(folder, runs);
      const times = Array.from({ length: quick ? 3 : 9 }, () => timeList(folder, runs));
      measurements.push({
        what: begun === 0 ? `${runs} queued runs` : `${runs} runs, ${begun} of them begun`,
        ...{ value: median(times), unit: 'ms', atMost: 300 },
        note: `median of ${times.length} processes, the fastest ${Math.min(...times).toFixed(0)} ms`,
      });
    }
    const empty = join(scratch, 'empty');
    mkdirSync(empty);
    const times = Array.from({ length: quick ? 3 : 9 }, () => timeList(empty, 0));
    const note = 'what the process takes that lists nothing';
    return [...measurements, { what: 'no runs', value: median(times), unit: 'ms', atMost: null, note }];
  },
};

function timeList(folder: string, runs: number): number {
  const start = performance.now();
  const { status, stdout } = spawnSync(process.execPath, [launcher, '--dir', folder, 'runs', 'ls'], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    env: { ...process.env, MLAB_CACHE: join(folder, 'cache') },
  });
  const milliseconds = performance.now() - start;
  const isListed = stdout.includes(runs === 0 ? 'No runs' : `${runs} runs`);
  if (status !== 0 || !isListed) throw new Error(`mlab runs ls ended with ${status}`);
  return milliseconds;
}
