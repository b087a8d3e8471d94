import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { type Benchmark, median } from './benchmark.ts';
import { launcher } from './task-resources.ts';

export const help: Benchmark = {
  name: 'help',
  summary: 'how long `mlab --help` takes, from starting the process to its end',
  async measure({ quick, scratch }) {
    const cache = join(scratch, 'cache');
    const first = timeHelp(cache);
    const times = Array.from({ length: quick ? 3 : 11 }, () => timeHelp(cache));
    const common = { unit: 'ms', atMost: null };
    return [
      {
        ...{ what: 'mlab --help', value: median(times), unit: 'ms', atMost: 150 },
        note: `median of ${times.length} processes`,
      },
      { what: 'the fastest', value: Math.min(...times), ...common, note: '' },
      { what: 'the very first', value: first, ...common, note: 'before compiled code is kept' },
    ];
  },
};

function timeHelp(cache: string): number {
  const start = performance.now();
  const { status, stdout } = spawnSync(process.execPath, [launcher, '--help'], {
    encoding: 'utf8',
    env: { ...process.env, MLAB_CACHE: cache },
  });
  const milliseconds = performance.now() - start;
  if (status !== 0 || !stdout.includes('Usage: mlab')) throw new Error(`mlab --help ended with ${status}`);
  return milliseconds;
}
