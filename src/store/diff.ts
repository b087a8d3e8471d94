import { isUtf8 } from 'node:buffer';
import { setImmediate } from 'node:timers/promises';
// The package's main module would load twenty others in every command.
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff/lib/patch/create.js';
import type { ObjectId, SnapshotEntry } from '../schema/index.ts';
import type { ObjectStore } from './object-store.ts';
import { byPath, readSnapshot } from './snapshot-file.ts';

/** Larger texts are not compared line by line. */
const textBytes = 2 ** 20;
/** Comparing two long texts without a common line would take minutes, and nothing else runs meanwhile. */
const patchMs = 500;
const maxCompared = 1_000;

/**
 * How two states of one path differ.
 * - `text`: a unified diff of the content
 * - `binary`: at least one is not UTF-8 text
 * - `too_large`: texts that are too long, or too different, to compare line by line
 * - `link`: the target of a symbolic link
 * - `mode`: only the permissions
 * - `folder`: a folder was added or removed
 * - `kind`: for example, a file became a link
 */
export type FileDifference =
  | { as: 'text'; patch: string }
  | { as: 'binary' | 'too_large' | 'link' | 'mode' | 'folder' | 'kind' };

export type PathDifference = FileDifference & {
  path: string;
  kind: 'added' | 'removed' | 'modified';
  before: SnapshotEntry | null;
  after: SnapshotEntry | null;
};

/**
 * The changes from one snapshot to another, sorted by path. Modification times don't count. Only the first thousand
 * changed texts are compared line by line.
 * @throws UserError as `ObjectStore.get`, `broken_file`, `unsafe_snapshot`
 */
export async function diffSnapshots(
  objects: ObjectStore,
  before: ObjectId,
  after: ObjectId,
  signal?: AbortSignal,
): Promise<PathDifference[]> {
  if (before === after) return [];
  const old = new Map(readSnapshot(objects, before).entries.map((entry) => [entry.path, entry]));
  const changes: [before: SnapshotEntry | null, after: SnapshotEntry | null][] = [];
  for (const entry of readSnapshot(objects, after).entries) {
    const previous = old.get(entry.path) ?? null;
    old.delete(entry.path);
    if (previous === null || !sameEntry(previous, entry)) changes.push([previous, entry]);
  }
  for (const entry of old.values()) changes.push([entry, null]);
  const differences: PathDifference[] = [];
  let compared = 0;
  for (const [old, fresh] of changes) {
    signal?.throwIfAborted();
    const difference = describe(compared < maxCompared ? objects : null, old, fresh);
    if (difference.as === 'text') compared += 1;
    // Each comparison may take long, and none awaits anything.
    if (difference.as === 'text' || differences.length % 1_000 === 0) await setImmediate();
    differences.push(difference);
  }
  return differences.sort(byPath);
}

/**
 * A unified diff of two texts, with three lines of context; null if they are too different to compare. The names are in
 * its first two lines, quoted if they contain line breaks and the like.
 */
export function unifiedDiff(
  before: string,
  after: string,
  names: { before: string; after: string },
): string | null {
  const patch = createTwoFilesPatch(names.before, names.after, before, after, undefined, undefined, {
    context: 3,
    timeout: patchMs,
    headerOptions: FILE_HEADERS_ONLY,
  });
  return patch ?? null;
}

function sameEntry(one: SnapshotEntry, other: SnapshotEntry): boolean {
  if ('object' in one && 'object' in other) return one.object === other.object && one.mode === other.mode;
  if ('link' in one && 'link' in other) return one.link === other.link;
  return 'folder' in one && 'folder' in other;
}

/** @param objects null: no text is compared */
function describe(
  objects: ObjectStore | null,
  before: SnapshotEntry | null,
  after: SnapshotEntry | null,
): PathDifference {
  const kind = before === null ? 'added' : after === null ? 'removed' : 'modified';
  const path = after?.path ?? before?.path ?? '';
  return { path, kind, before, after, ...compare(objects, path, before, after) };
}

function compare(
  objects: ObjectStore | null,
  path: string,
  before: SnapshotEntry | null,
  after: SnapshotEntry | null,
): FileDifference {
  const one = before ?? after;
  const other = after ?? before;
  if (!one || !other) throw new Error('nothing to compare');
  if ('folder' in one && 'folder' in other) return { as: 'folder' };
  if ('link' in one && 'link' in other) return { as: 'link' };
  if (!('object' in one) || !('object' in other)) return { as: 'kind' };
  if (before && after && one.object === other.object) return { as: 'mode' };
  if (objects === null) return { as: 'too_large' };
  const old = before ? readTextOf(objects, one) : '';
  const fresh = after ? readTextOf(objects, other) : '';
  if (typeof old !== 'string') return old;
  if (typeof fresh !== 'string') return fresh;
  const patch = unifiedDiff(old, fresh, {
    before: before ? path : '/dev/null',
    after: after ? path : '/dev/null',
  });
  return patch === null ? { as: 'too_large' } : { as: 'text', patch };
}

function readTextOf(
  objects: ObjectStore,
  entry: { object: ObjectId; size: number },
): string | { as: 'binary' | 'too_large' } {
  if (entry.size > textBytes) return { as: 'too_large' };
  const content = objects.get(entry.object, entry.size);
  return isUtf8(content) && !content.includes(0) ? content.toString('utf8') : { as: 'binary' };
}
