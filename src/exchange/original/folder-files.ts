import type { Dirent } from 'node:fs';
import { lstatSync } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { yieldToSignals } from '../yield-to-signals.ts';

/** A regular file below a folder. */
export interface FileBelow {
  /** With slashes, relative to the folder. */
  path: string;
  source: string;
}

const deepest = 64;
const entriesBetweenYields = 1000;

/**
 * All regular files below a folder, by path. Links are not followed; other entries, and files beyond the limit, are
 * counted.
 * @param most how many files
 */
export async function filesBelow(
  folder: string,
  most: number,
  signal: AbortSignal,
): Promise<{ files: FileBelow[]; leftOut: number }> {
  const files: FileBelow[] = [];
  let leftOut = 0;
  const visit = async (inner: string, prefix: string, depth: number): Promise<void> => {
    for await (const entry of entriesOf(inner, signal)) {
      const source = join(inner, entry.name);
      const path = prefix + entry.name;
      if (entry.isDirectory() && depth < deepest) await visit(source, `${path}/`, depth + 1);
      else if (entry.isFile() && files.length < most) files.push({ path, source });
      else leftOut += 1;
    }
  };
  if (isFolder(folder)) await visit(folder, '', 0);
  return { files: files.sort((one, other) => (one.path < other.path ? -1 : 1)), leftOut };
}

/** The entries of a folder, a few at a time; none if it can't be read. */
export async function* entriesOf(folder: string, signal: AbortSignal): AsyncGenerator<Dirent> {
  let looked = 0;
  try {
    for await (const entry of await opendir(folder, { bufferSize: 256 })) {
      if (++looked % entriesBetweenYields === 0) await yieldToSignals(signal);
      yield entry;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Error && 'syscall' in error)) throw error;
  }
}

/** The matching names of files directly in a folder, in a fixed order; none if it can't be read. */
export async function fileNames(
  folder: string,
  fits: RegExp,
  most: number,
  signal: AbortSignal,
): Promise<string[]> {
  const names: string[] = [];
  if (!isFolder(folder)) return names;
  for await (const entry of entriesOf(folder, signal))
    if (fits.test(entry.name) && names.length < most) names.push(entry.name);
  return names.sort();
}

/** Whether it is a folder, and not a link to one. */
export function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
