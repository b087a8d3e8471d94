import { withoutEnd } from '../lib/without-end.ts';
import type { SnapshotEntry } from '../schema/index.ts';

/**
 * Folders of programs that read settings from the working tree, and follow them when they report the state of a folder.
 */
const ownFolders: ReadonlySet<string> = new Set(['.git', '.hg', '.jj']);
/** Without these, git does not treat a folder as a bare repository, and runs nothing in it. */
const obeyedInBare: ReadonlySet<string> = new Set([
  ...['head', 'config', 'config.worktree', 'commondir', 'gitdir', 'hooks', 'modules', 'worktrees'],
]);

/**
 * A snapshot's entries without those that make git and the like run programs of the agent's choice: a `config` that
 * names a file-system monitor, hooks, a `.git` that points elsewhere. A shell's prompt may call git in every folder
 * that you enter. Covers nested repositories, submodules and bare repositories.
 */
export function withoutRepositories(entries: readonly SnapshotEntry[]): {
  kept: SnapshotEntry[];
  /** Paths; of a folder only the folder's own path. */
  leftOut: string[];
} {
  const bare = bareRepositories(entries);
  const leftOut = new Set<string>();
  const kept = entries.filter(({ path }) => {
    const names = path.split('/');
    const at = names.findIndex((name, index) => {
      if (isOwnFolder(name)) return true;
      return bare.has(names.slice(0, index).join('/')) && obeyedInBare.has(plainName(name));
    });
    if (at >= 0) leftOut.add(names.slice(0, at + 1).join('/'));
    return at < 0;
  });
  return { kept, leftOut: [...leftOut].sort() };
}

/**
 * A name as the most lenient file system reads it: case, invisible characters, trailing dots and spaces and the names
 * of streams make no difference there, and a backslash separates names.
 */
export function plainName(name: string): string {
  const plain = name
    .replaceAll(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '')
    .toLowerCase()
    .replace(/:.*$/s, '');
  return withoutEnd(plain, '. ');
}

/** Whether some file system reads the name as that of git's own folder, or the like. */
export function isOwnFolder(name: string): boolean {
  return name.split('\\').some((part) => {
    const plain = plainName(part);
    return ownFolders.has(plain) || /^git~\d+$/.test(plain);
  });
}

/** Folders that git treats as a repository because of their contents, and those that point to one. */
function bareRepositories(entries: readonly SnapshotEntry[]): Set<string> {
  const names = new Map<string, Set<string>>();
  for (const { path } of entries) {
    const cut = path.lastIndexOf('/');
    const name = plainName(path.slice(cut + 1));
    if (!['head', 'objects', 'refs', 'commondir'].includes(name)) continue;
    const folder = path.slice(0, Math.max(cut, 0));
    names.set(folder, (names.get(folder) ?? new Set()).add(name));
  }
  return new Set(
    [...names].flatMap(([folder, held]) =>
      held.has('head') && (held.has('commondir') || (held.has('objects') && held.has('refs')))
        ? [folder]
        : [],
    ),
  );
}
