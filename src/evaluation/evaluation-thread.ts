/** A thread of `evaluateAhead`: evaluates runs of one experiment into the index, one after another. */
import { dirname } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { RunId } from '../schema/index.ts';
import { openExperiment } from '../store/index.ts';
import { evaluateRun } from './evaluate-run.ts';
import { EvaluationIndex } from './evaluation-index.ts';

const experiment = openExperiment(z.string().parse(workerData));
const index = new EvaluationIndex(dirname(experiment.folder));
const planned = new Map(experiment.plan.runs.map((spec) => [spec.id, spec]));

parentPort?.on('message', (id) => {
  const spec = planned.get(RunId.parse(id));
  if (spec !== undefined) {
    const folder = experiment.runFolder(spec.id);
    try {
      index.evaluation(folder.folder, () => evaluateRun(folder, spec));
    } catch {
      // Readers of the index evaluate what is missing, and get the same error.
    }
  }
  parentPort?.postMessage(id);
});
