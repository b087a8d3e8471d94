import { mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeTree } from '../lib/read-only-tree.ts';
import { type PrepareOptions, prepareTask } from './prepare.ts';
import type { PreparedData } from './prepared-data.ts';
import type { Task } from './task-folder.ts';

/**
 * Prepares a task's data a second time under other conditions: in another folder, with another clock, umask, locale,
 * time zone and hash seed, and with folders listed in another order.
 * @returns the differences, by file; empty if the bytes are the same
 */
export async function prepareAgain(
  task: Task,
  prepared: PreparedData,
  options: PrepareOptions,
): Promise<string[]> {
  const cache = mkdtempSync(join(tmpdir(), 'mlab prepared again '));
  try {
    const downloads = join(options.cache, 'downloads');
    mkdirSync(downloads, { recursive: true });
    symlinkSync(downloads, join(cache, 'downloads'));
    const again = await prepareTask(task, { ...options, cache, elsewhere: true });
    return differences(prepared, again);
  } finally {
    removeTree(cache);
  }
}

function differences({ manifest: { files } }: PreparedData, { manifest }: PreparedData): string[] {
  const [before, after] = [files, manifest.files].map(
    (list) => new Map(list.map(({ path, sha256 }) => [path, sha256])),
  ) as [Map<string, string>, Map<string, string>];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((path) => {
    if (before.get(path) === after.get(path)) return [];
    if (!after.has(path)) return [`${path} is missing the second time`];
    return [before.has(path) ? `${path} has different bytes` : `${path} exists only the second time`];
  });
}
