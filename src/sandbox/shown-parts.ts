import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Which part of a folder is shown: for each entry all of it, nothing of it, or what the rules for that folder say. */
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

/**
 * How many steps make mounting the whole folder worthwhile: entries added to it are then visible until the next scan.
 */
const worthwhile = 10;

/** More than the resolution of file systems' clocks. */
const clockMs = 2_000;

/** By rules and folder: every sandbox needs the same, and folders of a system hardly change. */
const knownScans = new Map<Shown, Map<string, FolderScan>>();

/**
 * The parts of a folder that its rules allow. Each allowed entry is mounted; or, if that takes far fewer steps, the
 * whole folder with covers over the rest: every step costs time at the start of each command.
 */
export function partsOf(folder: string, shown: Shown | 'all'): Parts {
  if (shown === 'all') return { mounts: [folder], covers: [] };
  const scans = knownScans.get(shown) ?? new Map<string, FolderScan>();
  knownScans.set(shown, scans);
  const known = scans.get(folder);
  if (known?.isStillTrue() === true) return known.parts;
  const scan = new FolderScan(folder, shown);
  scans.set(folder, scan);
  return scan.parts;
}

/** What was found in a folder and below it, and which folders that depends on. */
class FolderScan {
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
    const entries = this.#matchedEntries(folder, shown);
    const single: Parts = { mounts: [], covers: [] };
    for (const { path, shownPart } of entries) {
      if (shownPart === 'all') single.mounts.push(path);
      if (typeof shownPart !== 'function') continue;
      const parts = this.#partsOf(path, shownPart);
      single.mounts.push(...parts.mounts);
      single.covers.push(...parts.covers);
    }
    const covers = this.#coversOf(entries);
    const steps = single.mounts.length + single.covers.length;
    return covers.length + worthwhile < steps ? { mounts: [folder], covers } : single;
  }

  #matchedEntries(folder: string, shown: Shown): MatchedEntry[] {
    // Before it is read, so that entries added meanwhile count as another change.
    this.#changes.set(folder, changeOf(folder));
    return entriesOf(folder).flatMap((entry) => {
      const path = join(folder, entry.name);
      const isLink = entry.isSymbolicLink();
      const isFolder = isLink ? leadsToFolder(path) : entry.isDirectory();
      // A dangling link.
      if (isFolder === null) return [];
      const shownPart = shown({ name: entry.name, isFolder });
      return [{ path, isLink, shownPart: isFolder || typeof shownPart === 'string' ? shownPart : 'nothing' }];
    });
  }

  /** What must be covered if the folder itself is mounted. A link reveals nothing beyond its target's own place. */
  #coversOf(entries: readonly MatchedEntry[]): string[] {
    return entries.flatMap(({ path, isLink, shownPart }) => {
      if (isLink || shownPart === 'all') return [];
      return shownPart === 'nothing' ? [path] : this.#coversOf(this.#matchedEntries(path, shownPart));
    });
  }
}

interface MatchedEntry {
  path: string;
  isLink: boolean;
  shownPart: ReturnType<Shown>;
}

/**
 * When a folder's entries were last changed; null if it does not exist, or if another change could have the same time.
 */
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
