import type { ObjectId, SnapshotEntry } from '../schema/index.ts';
import type { TakenSnapshot } from './snapshot-taker.ts';
import type { SkippedEntry } from './workspace-walk.ts';

/** More are counted only. */
const mostChangedListed = 100;
const mostSkippedListed = 1_000;

/** What is told of a snapshot: not its entries, of which there may be many. */
export interface SnapshotSummary {
  /** The object that lists the entries. */
  id: ObjectId;
  /** Bytes of all files together. */
  bytes: number;
  /** The first paths that came, went, or whose content, permissions, target or kind differ from the snapshot before; sorted. */
  changed: string[];
  changedCount: number;
  /** Those of the files that were to be kept first. */
  first: FirstFile[];
  /** The first of what could not be kept, sorted: see `TakenSnapshot`. */
  skipped: SkippedEntry[];
  skippedCount: number;
}

/** A file that was asked for by its path. */
export interface FirstFile {
  path: string;
  /** Null where nothing lies there. */
  entry: SnapshotEntry | null;
  /** Since the snapshot before, also where its content stayed the same. */
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
    changed: changed.slice(0, mostChangedListed),
    changedCount: changed.length,
    first: first.map((path) => ({ path, entry: found.get(path) ?? null, isWritten: written.has(path) })),
    skipped: skipped.slice(0, mostSkippedListed),
    skippedCount: skipped.length,
  };
}
