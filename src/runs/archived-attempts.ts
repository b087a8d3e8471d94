import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { formerLockName, leaseName, RunFolder, resultsLockName } from '../store/index.ts';

/** Archives an incomplete run, so that it can start over. The lease stays where it is. */
export async function archiveAttempt(run: RunFolder): Promise<void> {
  await run.withoutResults(() => moveAttempt(run));
}

function moveAttempt(run: RunFolder): void {
  const { folder, recordPath } = run;
  const attempts = attemptsFolder(folder);
  mkdirSync(attempts, { recursive: true });
  // By the run's own attempts: elsewhere, those of other runs may not be there.
  const archived = attemptFolder(run, Math.max(0, ...attemptNumbers(run)) + 1);
  mkdirSync(archived);
  // The record last: while it is there, the run is known to have begun.
  const record = basename(recordPath);
  const stays = [leaseName, formerLockName, resultsLockName, record];
  const others = readdirSync(folder).filter((name) => !stays.includes(name));
  for (const name of [...others, record]) renameSync(join(folder, name), join(archived, name));
}

/** The archived attempts of a run. */
export function archivedAttempts(run: RunFolder): RunFolder[] {
  return attemptNumbers(run).map((number) => new RunFolder(attemptFolder(run, number), run.objects));
}

/** Where an attempt is, or will be, kept. */
export function attemptFolder({ folder, id }: RunFolder, number: number): string {
  return join(attemptsFolder(folder), `${id}.${number}`);
}

function attemptNumbers({ folder, id }: RunFolder): number[] {
  const attempts = attemptsFolder(folder);
  if (!existsSync(attempts)) return [];
  return readdirSync(attempts).flatMap((name) => {
    const number = name.startsWith(`${id}.`) ? name.slice(id.length + 1) : '';
    return /^\d+$/.test(number) ? [Number(number)] : [];
  });
}

function attemptsFolder(folder: string): string {
  return join(dirname(folder), '.discarded');
}
