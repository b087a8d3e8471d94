import { existsSync, readFileSync } from 'node:fs';
import { UserError } from '../lib/errors.ts';
import type { RunSpec } from '../schema/index.ts';
import { type Experiment, eachEventSync, type RunFolder } from '../store/index.ts';
import { counted } from './table.ts';

const mostNamed = 5;

/** A warning that runs begun with --approve are about to continue without it; null if there are none. */
export function unsupervisedWarning(experiment: Experiment, runs: readonly RunSpec[]): string | null {
  const names = runs
    .filter(({ id, approve_later: later }) => later !== true && isSupervised(experiment.runFolder(id)))
    .map(({ id }) => `${experiment.name}/${id}`);
  if (names.length === 0) return null;
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : '';
  return (
    `Warning: ${counted(names.length, 'run')} supervised so far will continue without supervision: ` +
    `${names.slice(0, mostNamed).join(', ')}${more}.\n` +
    'Nobody will be asked before their actions. To be asked, stop with Ctrl-C and add --approve to the same command.'
  );
}

/** Whether a run that has not finished has asked anybody about its actions. */
function isSupervised(folder: RunFolder): boolean {
  try {
    const record = folder.readRecord();
    if (record === null || record.status === 'finished' || !folder.hasTrace()) return false;
    // Hundreds of runs may be resumed, and reading their events takes much longer than looking for a word.
    if (existsSync(folder.tracePath) && !readFileSync(folder.tracePath).includes('action_proposed'))
      return false;
    let asked = false;
    for (const event of eachEventSync(folder.tracePath)) {
      // What was copied from another run was asked there.
      if (event.kind === 'session_started' && event.parent !== undefined) asked = false;
      if (event.kind === 'action_proposed') asked = true;
    }
    return asked;
  } catch (error) {
    // The run itself reports files that can't be read.
    if (UserError.isInstance(error)) return false;
    throw error;
  }
}
