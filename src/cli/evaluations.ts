import { dirname } from 'node:path';
import { EvaluationIndex, evaluateRun } from '../evaluation/index.ts';
import type { RunEvaluation } from '../schema/index.ts';
import type { Experiment } from '../store/index.ts';
import type { Context } from './context.ts';

type Surroundings = Pick<Context, 'log' | 'signal'>;

/** What is known of every planned run, in the order of the plans. Those that have changed are read anew. */
export async function evaluationsOf(
  context: Surroundings,
  experiments: readonly Experiment[],
): Promise<RunEvaluation[]> {
  const evaluations: RunEvaluation[] = [];
  for (const [folder, together] of Map.groupBy(experiments, (experiment) => dirname(experiment.folder))) {
    using index = new EvaluationIndex(folder);
    for (const experiment of together) evaluations.push(...(await evaluateAll(context, experiment, index)));
  }
  return evaluations;
}

async function evaluateAll(
  context: Surroundings,
  experiment: Experiment,
  index: EvaluationIndex,
): Promise<RunEvaluation[]> {
  const { runs, name } = experiment.plan;
  const progress = progressOf(context, name, runs.length);
  const evaluations: RunEvaluation[] = [];
  for (const spec of runs) {
    const folder = experiment.runFolder(spec.id);
    evaluations.push(index.evaluation(folder.folder, () => evaluateRun(folder, spec)));
    await progress(evaluations.length);
  }
  return evaluations;
}

/** Says how far it is when that takes seconds, and lets Ctrl-C in. */
function progressOf(context: Surroundings, name: string, total: number): (done: number) => Promise<void> {
  const pause = 2000;
  let next = Date.now() + pause;
  return async (done) => {
    if (done % 50 === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    context.signal.throwIfAborted();
    if (Date.now() < next) return;
    next = Date.now() + pause;
    context.log(`${name}: ${done} of ${total} runs read`);
  };
}
