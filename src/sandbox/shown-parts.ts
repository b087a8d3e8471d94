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

/**
 * The parts of a folder that its rules allow. Each entry that is allowed is mounted, or, where that takes far fewer
 * steps, the whole folder with covers over the rest: every step costs time at the start of each command.
 */
export function partsOf(folder: string, shown: Shown | 'all'): Parts {
  if (shown === 'all') return { mounts: [folder], covers: [] };
  const entries = judgedEntries(folder, shown);
  const single: Parts = { mounts: [], covers: [] };
  for (const { path, verdict } of entries) {
    if (verdict === 'all') single.mounts.push(path);
    if (typeof verdict !== 'function') continue;
    const parts = partsOf(path, verdict);
    single.mounts.push(...parts.mounts);
    single.covers.push(...parts.covers);
  }
  const covers = coversOf(entries);
  const steps = single.mounts.length + single.covers.length;
  return covers.length + worthwhile < steps ? { mounts: [folder], covers } : single;
}

interface JudgedEntry {
  path: string;
  isLink: boolean;
  verdict: ReturnType<Shown>;
}

function judgedEntries(folder: string, shown: Shown): JudgedEntry[] {
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
function coversOf(entries: readonly JudgedEntry[]): string[] {
  return entries.flatMap(({ path, isLink, verdict }) => {
    if (isLink || verdict === 'all') return [];
    return verdict === 'nothing' ? [path] : coversOf(judgedEntries(path, verdict));
  });
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
