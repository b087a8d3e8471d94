import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** What of a folder is shown: told of each entry, all of it, nothing of it, or what the rules for that folder say. */
export type Shown = (entry: ShownEntry) => 'all' | 'nothing' | Shown;

export interface ShownEntry {
  name: string;
  /** Links followed. */
  isFolder: boolean;
}

/** Paths to mount, and paths below them to cover. */
export interface Parts {
  mounts: string[];
  covers: string[];
}

/** Steps that are worth it: what is added to a folder that is mounted as a whole is seen until the next look. */
const worthwhile = 10;

/** More than file systems' clocks are coarse. */
const clockMs = 2_000;

/** By rules and folder: every sandbox asks the same, and folders of a system hardly change. */
const lastLooks = new Map<Shown, Map<string, Look>>();

/**
 * The parts of a folder that its rules allow. Each entry that is allowed is mounted, or, where that takes far fewer
 * steps, the whole folder with covers over the rest: every step costs time at the start of each command.
 */
export function partsOf(folder: string, shown: Shown | 'all'): Parts {
  if (shown === 'all') return { mounts: [folder], covers: [] };
  const looks = lastLooks.get(shown) ?? new Map<string, Look>();
  lastLooks.set(shown, looks);
  const known = looks.get(folder);
  if (known?.isStillTrue() === true) return known.parts;
  const look = new Look(folder, shown);
  looks.set(folder, look);
  return look.parts;
}

/** What was found in a folder and below it, and which folders that says something of. */
class Look {
  readonly parts: Parts;
  readonly #changes = new Map<string, bigint | null>();

  constructor(folder: string, shown: Shown) {
    this.parts = this.#partsOf(folder, shown);
  }

  /** Whether nothing was added to these folders, removed or renamed since. */
  isStillTrue(): boolean {
    return [...this.#changes].every(([folder, change]) => change !== null && changeOf(folder) === change);
  }

  #partsOf(folder: string, shown: Shown): Parts {
    const entries = this.#judgedEntries(folder, shown);
    const single: Parts = { mounts: [], covers: [] };
    for (const { path, verdict } of entries) {
      if (verdict === 'all') single.mounts.push(path);
      if (typeof verdict !== 'function') continue;
      const parts = this.#partsOf(path, verdict);
      single.mounts.push(...parts.mounts);
      single.covers.push(...parts.covers);
    }
    const covers = this.#coversOf(entries);
    const steps = single.mounts.length + single.covers.length;
    return covers.length + worthwhile < steps ? { mounts: [folder], covers } : single;
  }

  #judgedEntries(folder: string, shown: Shown): JudgedEntry[] {
    // Before it is read: what is added meanwhile is another change.
    this.#changes.set(folder, changeOf(folder));
    return entriesOf(folder).flatMap((entry) => {
      const path = join(folder, entry.name);
      const isLink = entry.isSymbolicLink();
      const isFolder = isLink ? leadsToFolder(path) : entry.isDirectory();
      // A link that leads nowhere.
      if (isFolder === null) return [];
      const verdict = shown({ name: entry.name, isFolder });
      return [{ path, isLink, verdict: isFolder || typeof verdict === 'string' ? verdict : 'nothing' }];
    });
  }

  /** What must be covered where the folder itself is mounted. A link shows nothing that its target's place doesn't. */
  #coversOf(entries: readonly JudgedEntry[]): string[] {
    return entries.flatMap(({ path, isLink, verdict }) => {
      if (isLink || verdict === 'all') return [];
      return verdict === 'nothing' ? [path] : this.#coversOf(this.#judgedEntries(path, verdict));
    });
  }
}

interface JudgedEntry {
  path: string;
  isLink: boolean;
  verdict: ReturnType<Shown>;
}

/** When a folder's entries were last changed; null where there is none, and where another change could have the same time. */
function changeOf(folder: string): bigint | null {
  const stat = statSync(folder, { bigint: true, throwIfNoEntry: false });
  return stat === undefined || Date.now() - Number(stat.mtimeMs) < clockMs ? null : stat.mtimeNs;
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function leadsToFolder(link: string): boolean | null {
  try {
    return statSync(link).isDirectory();
  } catch {
    return null;
  }
}
