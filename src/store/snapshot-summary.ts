import type { ObjectId, SnapshotEntry } from '../schema/index.ts';
import type { TakenSnapshot } from './snapshot-taker.ts';
import type { SkippedEntry } from './workspace-walk.ts';

/** Beyond this number they are only counted. */
const maxChangedListed = 100;
const maxSkippedListed = 1_000;

/** A summary of a snapshot without its entries, which may be many. */
export interface SnapshotSummary {
  /** The object that lists the entries. */
  id: ObjectId;
  /** Bytes of all files together. */
  bytes: number;
  /**
   * The first paths that were added or removed, or whose content, permissions, target or kind differ from the snapshot
   * before; sorted.
   */
  changed: string[];
  changedCount: number;
  /** The files with priority that exist. */
  first: FirstFile[];
  /** The first entries that could not be stored, sorted: see `TakenSnapshot`. */
  skipped: SkippedEntry[];
  skippedCount: number;
}

/** A file that was requested by its path. */
export interface FirstFile {
  path: string;
  /** Null if there is none. */
  entry: SnapshotEntry | null;
  /** Whether it was written since the snapshot before, even with the same content. */
  isWritten: boolean;
}

export function summaryOf(taken: TakenSnapshot, first: readonly string[] = []): SnapshotSummary {
  const { id, entries, bytes, changed, touched, skipped } = taken;
  const wanted = new Set(first);
  const found = new Map<string, SnapshotEntry>();
  for (const entry of entries) if (wanted.has(entry.path)) found.set(entry.path, entry);
  const written = new Set([...changed, ...touched].filter((path) => wanted.has(path)));
  return {
    ...{ id, bytes },
    changed: changed.slice(0, maxChangedListed),
    changedCount: changed.length,
    first: first.map((path) => ({ path, entry: found.get(path) ?? null, isWritten: written.has(path) })),
    skipped: skipped.slice(0, maxSkippedListed),
    skippedCount: skipped.length,
  };
}

/** A snapshot in which nothing has changed since this one. */
export function unchangedSince(summary: SnapshotSummary): SnapshotSummary {
  const first = summary.first.map((file) => ({ ...file, isWritten: false }));
  return { ...summary, changed: [], changedCount: 0, first };
}
