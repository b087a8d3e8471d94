import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Left behind by tools: not part of a task, a helper package or prepared data. */
const litter = new Set(['__pycache__', '.DS_Store', '.git', '.ruff_cache', '.pytest_cache', '.mypy_cache']);

export interface FolderFile {
  /** Relative to the folder, with `/`. */
  path: string;
  kind: 'file' | 'link' | 'other';
}

/** All files below a folder, sorted by path in code-unit order: the same on every machine. Links are listed, not followed. */
export function listFolderFiles(folder: string): FolderFile[] {
  const files: FolderFile[] = [];
  const walk = (relative: string): void => {
    for (const entry of readdirSync(join(folder, relative), { withFileTypes: true })) {
      if (litter.has(entry.name)) continue;
      const path = relative === '' ? entry.name : `${relative}/${entry.name}`;
      if (entry.isDirectory()) walk(path);
      else files.push({ path, kind: kindOf(entry) });
    }
  };
  walk('');
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function kindOf(entry: Dirent): FolderFile['kind'] {
  if (entry.isFile()) return 'file';
  return entry.isSymbolicLink() ? 'link' : 'other';
}
