import { dirname } from 'node:path';
import { messageOf, UserError } from '../lib/errors.ts';
import type { ExperimentName, RunEvaluation, RunSpec } from '../schema/index.ts';
import type { Experiment } from '../store/index.ts';
import { evaluateAhead } from './evaluate-ahead.ts';
import { evaluateRun } from './evaluate-run.ts';
import { EvaluationIndex } from './evaluation-index.ts';

export interface EvaluationOptions {
  /** Receives what is left out, and the progress if it takes seconds. */
  log: (line: string) => void;
  /** Called after each run. */
  onProgress?: (done: number, total: number) => void;
  signal: AbortSignal;
  /** Reads many unknown runs on all cores; default: only in this thread, which takes less memory. */
  allCores?: boolean;
  /** Also branches that people began, after the planned runs. Reports leave them out. */
  withBranches?: boolean;
  /** Whether a run counts, by its folder; default: every one. */
  isWanted?: (folder: string) => boolean;
}

export interface Evaluations {
  evaluations: RunEvaluation[];
  /** Runs whose files are damaged, by experiment and id: they are left out, and people are told. */
  unreadable: string[];
}

/** The evaluation of every planned run, in the order of the plans. Runs that have changed are read again. */
export async function evaluationsOf(
  context: EvaluationOptions,
  experiments: readonly Experiment[],
): Promise<Evaluations> {
  const found: Evaluations = { evaluations: [], unreadable: [] };
  for (const [folder, together] of Map.groupBy(experiments, (experiment) => dirname(experiment.folder))) {
    using index = new EvaluationIndex(folder);
    for (const experiment of together) await evaluateAll(context, experiment, index, found);
  }
  return found;
}

async function evaluateAll(
  context: EvaluationOptions,
  experiment: Experiment,
  index: EvaluationIndex,
  found: Evaluations,
): Promise<void> {
  const { name } = experiment;
  const leaveOut = (id: string, error: unknown) => {
    found.unreadable.push(`${name}/${id}`);
    context.log(`${name}/${id} can't be read and is left out: ${messageOf(error)}`);
  };
  const branches =
    context.withBranches === true ? experiment.readableBranches(leaveOut).map(({ run }) => run) : [];
  const isWanted = ({ id }: RunSpec) => context.isWanted?.(experiment.runFolder(id).folder) !== false;
  const runs = [...experiment.plan.runs, ...branches].filter(isWanted);
  if (context.allCores === true && index.isShared) {
    const unknown = experiment.plan.runs.filter(
      (run) => isWanted(run) && !index.has(experiment.runFolder(run.id).folder),
    );
    const report = progressOf(context, name, unknown.length);
    let done = 0;
    await evaluateAhead(experiment, unknown, context.signal, () => report(++done));
  }
  const report = progressOf(context, name, runs.length);
  for (const [number, spec] of runs.entries()) {
    const folder = experiment.runFolder(spec.id);
    try {
      const evaluation = index.evaluation(folder.folder, () => evaluateRun(folder, spec));
      found.evaluations.push(underName(evaluation, name));
    } catch (error) {
      if (!UserError.isInstance(error)) throw error;
      leaveOut(spec.id, error);
    }
    if (number % 50 === 49) await new Promise<void>((resolve) => setImmediate(resolve));
    // The await above let Ctrl-C be handled.
    context.signal.throwIfAborted();
    context.onProgress?.(number + 1, runs.length);
    report(number + 1);
  }
}

/** An evaluation has the name of the plan; people know the experiment by that of its folder. */
function underName(evaluation: RunEvaluation, name: ExperimentName): RunEvaluation {
  const { experiment: planned } = evaluation;
  return planned === name ? evaluation : { ...evaluation, experiment: name, planned_in: planned };
}

/** Reports the progress if it takes seconds. */
function progressOf({ log }: EvaluationOptions, name: string, total: number): (done: number) => void {
  const pause = 2000;
  let next = Date.now() + pause;
  return (done) => {
    if (Date.now() < next) return;
    next = Date.now() + pause;
    log(`${name}: ${done} of ${total} runs read`);
  };
}
