import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { RunFolder } from './run-folder.ts';

/** The archived attempts of a run: those that later ones replaced. */
export function archivedAttempts(run: RunFolder): RunFolder[] {
  return attemptNumbers(run).map((number) => new RunFolder(attemptFolder(run, number), run.objects));
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
