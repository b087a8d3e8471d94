import { parseArgs } from 'node:util';
import { TaskBench } from './fixtures/fixture-task.ts';
import { chaos } from './fixtures/slurm/chaos.ts';
import { SlurmCluster, whyNoCluster } from './fixtures/slurm/cluster.ts';

/**
 * The long form of `slurm.heavy.test.ts`: `node test/slurm-chaos.ts --runs 200 --troubles 42`. Jobs also have a time
 * limit of a minute. Ends with code 0 if no run was lost and no step was taken twice.
 */
const { values } = parseArgs({
  options: { runs: { type: 'string', default: '200' }, troubles: { type: 'string', default: '42' } },
});
const missing = whyNoCluster();
if (missing === null) {
  const start = performance.now();
  const log = (line: string) =>
    console.log(`${((performance.now() - start) / 1000).toFixed(0).padStart(5)} s  ${line}`);
  await using cluster = await SlurmCluster.start({ nodes: 4, coresPerNode: 3 });
  using bench = new TaskBench();
  await bench.provision();
  const { faults, ...facts } = await chaos({
    ...{ cluster, bench, log, name: 'chaos', runs: Number(values.runs), most: Number(values.troubles) },
    ...{ rounds: 8, seconds: 0.3, pauseMs: 7_000, settings: { time: '1', signal_seconds: 45 } },
    troubles: [
      ...(['preempt', 'kill mlab run', 'cancel some', 'kill slurmctld'] as const),
      ...(['cut power of a node', 'kill slurmd'] as const),
    ],
  });
  log(JSON.stringify(facts));
  for (const fault of faults) log(fault);
  process.exitCode = faults.length === 0 ? 0 : 1;
} else console.log(`skipped: ${missing}`);
