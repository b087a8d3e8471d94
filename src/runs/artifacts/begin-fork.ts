import type { RunJob } from '../../schema/index.ts';
import { attemptNumbers, type Experiment, forkRun, openExperiment } from '../../store/index.ts';
import { archiveAttempt, finishArchiving } from '../archived-attempts.ts';
import type { ExperimentCopy } from './experiment-copy.ts';

/**
 * Begins a forked run in the experiment's folder, since workers don't see the run that it is forked from. What it has
 * recorded already stays, unless it starts over.
 */
export async function beginFork(
  { run, parent_experiment: from, archived_attempts: archived }: RunJob,
  experiment: Experiment,
  copy: ExperimentCopy,
  signal: AbortSignal,
): Promise<void> {
  const { parent } = run;
  if (parent === undefined || from === undefined) return;
  await copy.fetch(run.id);
  const folder = experiment.runFolder(run.id);
  using _ = folder.lock();
  await finishArchiving(folder);
  if (folder.readRecord() !== null && attemptNumbers(folder).length < archived) await archiveAttempt(folder);
  await forkRun(openExperiment(from).runFolder(parent.run), parent, folder, signal);
}
