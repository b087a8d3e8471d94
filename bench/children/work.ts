/**
 * Works on the runs of an experiment like `mlab run`, and prints the number of every step as soon as it is finished:
 * made to be killed. Arguments: folder of the experiment (its plan is there), cache.
 */
import { writeSync } from 'node:fs';
import { runExperiment } from '../../src/runs/index.ts';
import { openExperiment } from '../../src/store/index.ts';
import { helpersFolder, provision } from '../task-resources.ts';

const [folder = '', cache = ''] = process.argv.slice(2);
const signal = new AbortController().signal;
const experiment = openExperiment(folder);
const resources = await provision(cache, signal);
const results = await runExperiment(experiment.plan, {
  experiment,
  resources: new Map([[resources.task.file.id, resources]]),
  helpersFolder,
  versions: {},
  incomplete: 'continue',
  signal,
  onProgress: (progress) => {
    if (progress.kind !== 'run_step' || progress.progress.kind !== 'step_finished') return;
    // With the system when it returns: a line that was read is a step that was told to the world.
    writeSync(1, `${progress.progress.step}\n`);
  },
});
for (const { problem } of results) if (problem !== null) process.stderr.write(`${problem}\n`);
process.exitCode = results.every(({ problem }) => problem === null) ? 0 : 1;
