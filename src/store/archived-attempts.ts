import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { RunFolder } from './run-folder.ts';

/**
 * The archived attempts of a run: those that later ones replaced. Last the one that is being moved there, if its
 * process was killed: what it has spent counts, too.
 */
export function archivedAttempts(run: RunFolder): RunFolder[] {
  const moved = attemptNumbers(run).map((number) => attemptFolder(run, number));
  const moving = movingAttempt(run);
  const folders = existsSync(moving) ? [...moved, moving] : moved;
  return folders.map((folder) => new RunFolder(folder, run.objects));
}

/** Where the files of an attempt are gathered until all are there; this is no attempt yet. */
export function movingAttempt({ folder, id }: RunFolder): string {
  return join(attemptsFolder(folder), `${id}.moving`);
}

/** Where an attempt is, or will be, kept. */
export function attemptFolder({ folder, id }: RunFolder, number: number): string {
  return join(attemptsFolder(folder), `${id}.${number}`);
}

/** Of the archived attempts of a run, which need not be all that it had. */
export function attemptNumbers({ folder, id }: RunFolder): number[] {
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
