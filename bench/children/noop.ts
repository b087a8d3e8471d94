/**
 * Works through an experiment of noop runs, and prints the memory and processor time of the process when the numbered
 * runs have ended. Needs --expose-gc. Arguments: folder, cache, then the numbers.
 */
import { runExperiment } from '../../src/runs/index.ts';
import { createExperiment } from '../../src/store/index.ts';
import { childrenCpuMs } from '../machine.ts';
import type { NoopUsage } from '../noop.ts';
import { planFor } from '../plans.ts';
import { helpersFolder, provision } from '../task-resources.ts';

const [folder = '', cache = '', ...numbers] = process.argv.slice(2);
const measureAt = numbers.map(Number);
const signal = new AbortController().signal;
const resources = await provision(cache, signal);
const seeds = Math.max(...measureAt);
const plan = planFor({ name: 'noop', agent: 'noop', seeds, grade: 'none', sandbox: 'bubblewrap' }, resources);
const usages: NoopUsage[] = [];
let ended = 0;
const results = await runExperiment(plan, {
  experiment: createExperiment(folder, plan),
  resources: new Map([[resources.task.file.id, resources]]),
  helpersFolder,
  versions: {},
  incomplete: 'continue',
  signal,
  onProgress: ({ kind }) => {
    if (kind !== 'run_ended') return;
    ended += 1;
    if (measureAt.includes(ended)) usages.push(usage(ended));
  },
});
const problem = results.find((result) => result.problem !== null)?.problem ?? null;
process.stdout.write(JSON.stringify({ usages, problem }));

function usage(runs: number): NoopUsage {
  const { user, system } = process.cpuUsage();
  const collect = globalThis.gc;
  if (collect === undefined) throw new Error('start it with --expose-gc');
  // The second collection frees what finalizers of the first released.
  collect();
  collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  return {
    runs,
    cpuMs: (user + system) / 1000,
    childrenCpuMs: childrenCpuMs(),
    heapBytes: heapUsed + external,
    residentBytes: rss,
  };
}
