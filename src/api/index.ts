/** Runs experiments from a program: `import { runExperiment } from 'mlagentbench'`. See docs/how-to/use-as-a-library.md. */
import { type RunExperimentOptions, runExperimentHere } from '../cli/index.ts';
import type { ExperimentInput } from '../schema/index.ts';
import { readExperiment, type StoredExperiment } from './store.ts';

export { UserError } from '../lib/errors.ts';
export type { ExperimentInput, RunExperimentOptions, StoredExperiment };

/**
 * Does what `mlab run` does with an experiment file of these keys, and grades the runs. Calling it again resumes
 * unfinished runs. If the signal is aborted, the experiment is returned as far as it got.
 * @throws UserError with a code, a message and a hint, before anything runs
 */
export async function runExperiment(
  experiment: ExperimentInput,
  options: RunExperimentOptions = {},
): Promise<StoredExperiment> {
  return readExperiment(await runExperimentHere(experiment, options));
}
