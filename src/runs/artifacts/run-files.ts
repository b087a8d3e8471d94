import { lstatSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { hasCode } from '../../lib/errors.ts';
import { readRegularFile } from '../../lib/regular-file.ts';
import { archivedAttempts, attemptFolder, type RunFolder } from '../../store/index.ts';
import { isRunFile } from './checkpoint.ts';

const maxBytes = 2 ** 30;

/**
 * The files of a run and of its archived attempts, with their paths: the files that a copy of the run consists of,
 * besides its objects.
 */
export function runFiles(run: RunFolder): Map<string, string> {
  const attempts = archivedAttempts(run).map(({ folder }) => ({
    folder,
    prefix: `attempts/${basename(folder).slice(run.id.length + 1)}/`,
  }));
  const found = [{ folder: run.folder, prefix: '' }, ...attempts].flatMap(({ folder, prefix }) => {
    const branches = namesIn(folder, 'branches').map((branch) => `branches/${branch}/outputs/`);
    const names = ['', 'outputs/', 'decisions/', ...branches].flatMap((below) =>
      namesIn(folder, below).map((name) => `${below}${name}`),
    );
    return names.map((name) => [`${prefix}${name}`, join(folder, name)] as const);
  });
  return new Map(found.filter(([name, path]) => isRunFile(name) && stampOf(path) !== ''));
}

/**
 * The path for such a file.
 * @param name as in a checkpoint, which was checked
 */
export function pathOfRunFile(run: RunFolder, name: string): string {
  const [, attempt, rest] = /^attempts\/(\d+)\/(.*)$/.exec(name) ?? [];
  return attempt === undefined || rest === undefined
    ? join(run.folder, name)
    : join(attemptFolder(run, Number(attempt)), rest);
}

/** Changes with the file's content; empty if there is no file. */
export function stampOf(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isFile() ? `${found.ino} ${found.size} ${found.mtimeMs}` : '';
}

/** The content of a file; of a file that grows by lines, only complete lines. */
export function readRunFile(path: string): Buffer {
  const content = readRegularFile(path, maxBytes);
  return path.endsWith('.jsonl') ? content.subarray(0, content.lastIndexOf('\n') + 1) : content;
}

function namesIn(folder: string, below: string): string[] {
  try {
    return readdirSync(join(folder, below), { encoding: 'buffer' }).map((name) => name.toString('utf8'));
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return [];
    throw error;
  }
}
