import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../src/lib/errors.ts';
import { fixtureTasks, TaskBench } from '../test/fixtures/fixture-task.ts';
import { startMlab } from '../test/fixtures/mlab-process.ts';
import { SlurmCluster, whyNoCluster } from '../test/fixtures/slurm/cluster.ts';
import type { Benchmark } from './benchmark.ts';

const maxMs = 300_000;

export const slurm: Benchmark = {
  name: 'slurm',
  summary: 'an array of 1,000 jobs: from mlab run to the queue',
  async measure({ quick, signal }) {
    const missing = whyNoCluster();
    if (missing !== null)
      throw new UserError('no_slurm', `There is no Slurm here: ${missing}.`, 'Install it.');
    const jobs = quick ? 20 : 1_000;
    using bench = new TaskBench();
    await bench.provision();
    await using cluster = await SlurmCluster.start({ nodes: 4, coresPerNode: 2 });
    const file = join(bench.folder, 'slurm.json');
    // Instead of a worker, since only the time until it starts is measured.
    const executor = { on: 'slurm', slurm: { command: 'sleep 60; true', memory_mb: 100 } };
    const what = { tasks: ['sums'], agents: ['noop'], seeds: jobs, grade: 'none', sandbox: 'none' };
    writeFileSync(file, JSON.stringify({ name: 'dispatch', ...what, executor }));
    const variables = { ...cluster.variables, MLAB_CACHE: bench.cache };
    const start = performance.now();
    const seconds = () => (performance.now() - start) / 1000;
    const flags = ['--task-dir', fixtureTasks, '--dir', bench.experiments];
    const mlab = startMlab(['run', file, ...flags], { folder: bench.folder, variables });
    try {
      while (cluster.queue().length < jobs) {
        if (seconds() * 1000 > maxMs) throw new Error(`Slurm took too long:\n${mlab.said()}`);
        await sleep(100, undefined, { signal });
      }
      const note =
        "the documents of all jobs written, and the array taken by sbatch; mlab's own start included";
      return [
        {
          what: `mlab run until ${jobs} jobs are in the queue`,
          value: seconds(),
          unit: 's',
          atMost: 60,
          note,
        },
      ];
    } finally {
      mlab.process.kill('SIGKILL');
      await mlab.ended;
    }
  },
};
