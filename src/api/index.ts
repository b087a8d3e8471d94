/** Runs experiments from a program: `import { runExperiment } from 'mlagentbench'`. See docs/how-to/use-as-a-library.md. */
import { type RunExperimentOptions, runExperimentHere } from '../cli/index.ts';
import type { ExperimentInput } from '../schema/index.ts';
import { readExperiment, type StoredExperiment } from './store.ts';

export { UserError } from '../lib/errors.ts';
export type { ExperimentInput, RunExperimentOptions, StoredExperiment };

/**
 * Does what `mlab run` does with an experiment file of these keys, and grades the runs. The same call again goes on with
 * what is not finished. Where the signal is aborted, what there is by then is kept and returned.
 * @throws UserError with a code, what is wrong and a hint what to do, before anything is run
 */
export async function runExperiment(
  experiment: ExperimentInput,
  options: RunExperimentOptions = {},
): Promise<StoredExperiment> {
  return readExperiment(await runExperimentHere(experiment, options));
}
