import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import {
  attemptFolder,
  attemptNumbers,
  formerLockName,
  leaseName,
  type RunFolder,
  resultsLockName,
} from '../store/index.ts';

/** Archives an incomplete run, so that it can start over. The lease stays where it is. */
export async function archiveAttempt(run: RunFolder): Promise<void> {
  await run.withoutResults(() => moveAttempt(run));
}

function moveAttempt(run: RunFolder): void {
  const { folder, recordPath } = run;
  // By the run's own attempts: elsewhere, those of other runs may not be there.
  const archived = attemptFolder(run, Math.max(0, ...attemptNumbers(run)) + 1);
  mkdirSync(dirname(archived), { recursive: true });
  mkdirSync(archived);
  // The record last: while it is there, the run is known to have begun.
  const record = basename(recordPath);
  const stays = [leaseName, formerLockName, resultsLockName, record];
  const others = readdirSync(folder).filter((name) => !stays.includes(name));
  for (const name of [...others, record]) renameSync(join(folder, name), join(archived, name));
}
