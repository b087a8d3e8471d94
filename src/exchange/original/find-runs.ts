import { existsSync, lstatSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { UserError } from '../../lib/errors.ts';
import { namesIn } from './folder-files.ts';
import type { OriginalRun } from './original-run.ts';
import { logFolderNames, readLogFolder } from './read-log-folder.ts';
import { packedNames, readPackedRun } from './read-packed.ts';

export interface FoundRun {
  /** Absolute path. */
  folder: string;
  form: 'packed' | 'log folder';
}

const deepest = 32;

/**
 * All runs of the original below the folders, at any depth, by path; each once.
 * @throws UserError `no_folder`, `no_runs`
 */
export function findOriginalRuns(folders: readonly string[]): FoundRun[] {
  const found = new Map<string, FoundRun>();
  for (const given of folders) {
    const folder = resolve(given);
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
      throw new UserError(
        'no_folder',
        `There is no folder ${folder}.`,
        'Name the folder of one or of many runs.',
      );
    }
    for (const run of runsBelow(folder, 0)) found.set(run.folder, run);
  }
  if (found.size > 0) return [...found.values()].sort((one, other) => (one.folder < other.folder ? -1 : 1));
  throw new UserError(
    'no_runs',
    `No run of the original benchmark lies in ${folders.join(', ')}.`,
    `A run is a folder with ${logFolderNames.join(' and ')}, or with ${packedNames.join(', ')}.`,
  );
}

export async function readOriginalRun({ folder, form }: FoundRun, signal: AbortSignal): Promise<OriginalRun> {
  return form === 'packed' ? readPackedRun(folder) : await readLogFolder(folder, signal);
}

function runsBelow(folder: string, depth: number): FoundRun[] {
  if (logFolderNames.some((name) => existsSync(join(folder, name)))) return [{ folder, form: 'log folder' }];
  if (packedNames.slice(1).some((name) => existsSync(join(folder, name))))
    return [{ folder, form: 'packed' }];
  if (depth >= deepest) return [];
  return namesIn(folder)
    .map((name) => join(folder, name))
    .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory())
    .flatMap((path) => runsBelow(path, depth + 1));
}
