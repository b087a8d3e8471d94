import type { SnapshotEntry } from '../schema/index.ts';

/** Of programs whose settings lie with the files, and are obeyed by whoever asks for the state of a folder. */
const ownFolders: ReadonlySet<string> = new Set(['.git', '.hg', '.jj']);
/** Without them a folder that is laid out like git's own is none, and nothing in it is run. */
const obeyedInBare: ReadonlySet<string> = new Set([
  ...['head', 'config', 'config.worktree', 'commondir', 'gitdir', 'hooks', 'modules', 'worktrees'],
]);

/**
 * A snapshot's entries without what makes git and the like run programs of the agent's choice: a `config` that names
 * one to watch the files, hooks, a `.git` that leads elsewhere. A shell's prompt may call git in every folder that is
 * entered. Also of nested repositories, submodules and those without a working tree.
 */
export function withoutRepositories(entries: readonly SnapshotEntry[]): {
  kept: SnapshotEntry[];
  /** Paths; of a folder only its own. */
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
 * A name as the least particular file system takes it: case, characters that are not seen, dots and blanks at the
 * end and the names of streams make no difference there, and a backslash parts names.
 */
export function plainName(name: string): string {
  return name
    .replaceAll(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '')
    .toLowerCase()
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '');
}

/** Whether some file system takes the name for that of git's own folder, or its like. */
export function isOwnFolder(name: string): boolean {
  return name.split('\\').some((part) => {
    const plain = plainName(part);
    return ownFolders.has(plain) || /^git~\d+$/.test(plain);
  });
}

/** Folders that git takes for a repository because of what lies in them, and those that point to one. */
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
