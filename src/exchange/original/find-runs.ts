import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { UserError } from '../../lib/errors.ts';
import { entriesOf, isFolder } from './folder-files.ts';
import { mostOf, tooMany } from './limits.ts';
import type { OriginalRun } from './original-run.ts';
import { type LogWorkspaces, logFolderNames, readLogFolder } from './read-log-folder.ts';
import { packedNames, readPackedRun } from './read-packed.ts';

export interface FoundRun {
  /** Absolute path. */
  folder: string;
  form: 'packed' | 'log folder';
}

const deepest = 32;

/**
 * All runs of the original below the folders, at any depth, by path; each once. Links below them are not followed.
 * @throws UserError `no_folder`, `no_runs`, `too_much_to_import`
 */
export async function findOriginalRuns(folders: readonly string[], signal: AbortSignal): Promise<FoundRun[]> {
  const found = new Map<string, FoundRun>();
  const search = { left: mostOf.entries, signal };
  for (const given of folders) {
    const folder = resolve(given);
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
      throw new UserError(
        'no_folder',
        `There is no folder ${folder}.`,
        'Name the folder of one run or of many runs.',
      );
    }
    for await (const run of runsBelow(folder, 0, search)) {
      found.set(run.folder, run);
      if (found.size > mostOf.runs) throw tooMany('runs', mostOf.runs);
    }
  }
  if (found.size > 0) return [...found.values()].sort((one, other) => (one.folder < other.folder ? -1 : 1));
  throw new UserError(
    'no_runs',
    `There is no run of the original benchmark in ${folders.join(', ')}.`,
    `A run is a folder with ${logFolderNames.join(' and ')}, or with ${packedNames.join(', ')}.`,
  );
}

/** @param known what an earlier reading of the same run found in its workspaces: they are not read again */
export async function readOriginalRun(
  { folder, form }: FoundRun,
  signal: AbortSignal,
  known?: LogWorkspaces,
): Promise<OriginalRun> {
  return form === 'packed' ? await readPackedRun(folder, signal) : await readLogFolder(folder, signal, known);
}

interface Search {
  /** How many more entries may be visited. */
  left: number;
  signal: AbortSignal;
}

async function* runsBelow(folder: string, depth: number, search: Search): AsyncGenerator<FoundRun> {
  if (logFolderNames.some((name) => isFolder(join(folder, name)))) {
    yield { folder, form: 'log folder' };
    return;
  }
  if (packedNames.slice(1).some((name) => existsSync(join(folder, name)))) {
    yield { folder, form: 'packed' };
    return;
  }
  if (depth >= deepest) return;
  const inner: string[] = [];
  for await (const entry of entriesOf(folder, search.signal)) {
    if (--search.left < 0) throw tooMany('files and folders', mostOf.entries);
    const path = join(folder, entry.name);
    if (entry.isDirectory() || (hasUnknownType(entry) && isFolder(path))) inner.push(path);
  }
  for (const path of inner) yield* runsBelow(path, depth + 1, search);
}

/** Some file systems don't report the type of an entry with its name. */
function hasUnknownType(entry: { isFile(): boolean; isSymbolicLink(): boolean; isFIFO(): boolean }): boolean {
  return !entry.isFile() && !entry.isSymbolicLink() && !entry.isFIFO();
}
