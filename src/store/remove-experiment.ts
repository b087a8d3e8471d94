import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Experiment } from './experiment.ts';
import type { RunLease } from './lease/run-lease.ts';
import { removeFolder } from './remove-folder.ts';

/** Prefix of experiments that are being removed: no experiment has such a name. */
const removedPrefix = '.removed-';

/**
 * Removes an experiment with all its runs. It disappears at once, by renaming; leftovers of interrupted removals in the
 * same folder are removed, too.
 * @throws UserError `run_locked` if a run is being executed, and nothing is removed; the signal's reason
 */
export async function removeExperiment(experiment: Experiment, signal: AbortSignal): Promise<void> {
  const { folder } = experiment;
  const root = dirname(folder);
  const leases: RunLease[] = [];
  try {
    for (const id of [...experiment.runIds, ...experiment.branches.map(({ run }) => run.id)]) {
      const run = experiment.runFolder(id);
      if (existsSync(run.folder)) leases.push(run.lock());
    }
    renameSync(folder, join(root, `${removedPrefix}${basename(folder)}-${randomBytes(4).toString('hex')}`));
  } finally {
    for (const lease of leases) lease.release();
  }
  const names = readdirSync(root, { encoding: 'buffer' }).map(String);
  for (const name of names.filter((each) => each.startsWith(removedPrefix)))
    await removeFolder(join(root, name), signal);
}
