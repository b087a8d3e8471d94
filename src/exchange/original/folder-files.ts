import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** A regular file below a folder. */
export interface FileBelow {
  /** With slashes, relative to the folder. */
  path: string;
  source: string;
  bytes: number;
}

const most = 100_000;
const deepest = 64;

/** All regular files below a folder, by path. No link is followed; what is no file, or too much, is counted. */
export function filesBelow(folder: string): { files: FileBelow[]; leftOut: number } {
  const files: FileBelow[] = [];
  let leftOut = 0;
  const visit = (inner: string, prefix: string, depth: number) => {
    for (const name of namesIn(inner)) {
      const source = join(inner, name);
      const path = prefix + name;
      const state = lstatSync(source, { throwIfNoEntry: false });
      if (state?.isDirectory() && depth < deepest) visit(source, `${path}/`, depth + 1);
      else if (state?.isFile() && files.length < most) files.push({ path, source, bytes: state.size });
      else leftOut += 1;
    }
  };
  visit(folder, '', 0);
  return { files: files.sort((one, other) => (one.path < other.path ? -1 : 1)), leftOut };
}

/** The names in a folder in a fixed order; none where it can't be read. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}
