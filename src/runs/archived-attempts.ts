import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { formerLockName, leaseName, RunFolder, resultsLockName } from '../store/index.ts';

/** Keeps what an incomplete run left, out of the way of the one that starts over. The lease stays where it is. */
export async function archiveAttempt(run: RunFolder): Promise<void> {
  await run.withoutResults(() => moveAttempt(run));
}

function moveAttempt({ folder, recordPath, id }: RunFolder): void {
  const attempts = attemptsFolder(folder);
  mkdirSync(attempts, { recursive: true });
  const archived = join(attempts, `${id}.${readdirSync(attempts).length + 1}`);
  mkdirSync(archived);
  // The record last: as long as it is there, the run is known to have begun.
  const record = basename(recordPath);
  const stays = [leaseName, formerLockName, resultsLockName, record];
  const others = readdirSync(folder).filter((name) => !stays.includes(name));
  for (const name of [...others, record]) renameSync(join(folder, name), join(archived, name));
}

/** What earlier attempts of a run left. */
export function archivedAttempts({ folder, id, objects }: RunFolder): RunFolder[] {
  const attempts = attemptsFolder(folder);
  if (!existsSync(attempts)) return [];
  return readdirSync(attempts)
    .filter((name) => name.startsWith(`${id}.`) && /^\d+$/.test(name.slice(id.length + 1)))
    .map((name) => new RunFolder(join(attempts, name), objects));
}

function attemptsFolder(folder: string): string {
  return join(dirname(folder), '.discarded');
}
