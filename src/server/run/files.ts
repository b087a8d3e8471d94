import { isUtf8 } from 'node:buffer';
import { UserError } from '../../lib/errors.ts';
import type { FileList, FileText, ObjectId, SnapshotEntry } from '../../schema/index.ts';
import { type ObjectStore, readSnapshot } from '../../store/index.ts';

const maxTextBytes = 2 ** 22;

/**
 * The workspace of a snapshot, with the changes since another one.
 * @throws UserError as `readSnapshot`
 */
export function fileList(
  objects: ObjectStore,
  step: number,
  snapshot: ObjectId,
  before: ObjectId | null,
): FileList {
  const earlier = new Map(
    before === null ? [] : readSnapshot(objects, before).entries.map((entry) => [entry.path, entry]),
  );
  const { entries } = readSnapshot(objects, snapshot);
  const files = entries.map((entry) => {
    const old = earlier.get(entry.path);
    earlier.delete(entry.path);
    return { ...shownEntry(entry), change: before === null ? null : changeOf(old, entry) };
  });
  return { step, files, removed: [...earlier.keys()] };
}

function shownEntry(entry: SnapshotEntry) {
  const { path } = entry;
  if ('object' in entry)
    return { path, kind: 'file' as const, size: entry.size, object: entry.object, target: null };
  if ('link' in entry) return { path, kind: 'link' as const, size: null, object: null, target: entry.link };
  return { path, kind: 'folder' as const, size: null, object: null, target: null };
}

function changeOf(old: SnapshotEntry | undefined, entry: SnapshotEntry): 'added' | 'modified' | null {
  if (old === undefined) return 'added';
  const contentOf = (one: SnapshotEntry) =>
    'object' in one ? one.object : 'link' in one ? `> ${one.link}` : '';
  return contentOf(old) === contentOf(entry) ? null : 'modified';
}

/**
 * A file's content, if it is text.
 * @throws UserError as `ObjectStore.get`
 */
export function fileText(objects: ObjectStore, id: ObjectId): FileText {
  const content = contentUpTo(objects, id, maxTextBytes);
  if (content === null) return { object: id, bytes: maxTextBytes, text: null };
  const isText = isUtf8(content) && !content.includes(0);
  return { object: id, bytes: content.length, text: isText ? content.toString('utf8') : null };
}

function contentUpTo(objects: ObjectStore, id: ObjectId, maxBytes: number): Buffer | null {
  try {
    return objects.get(id, maxBytes);
  } catch (error) {
    if (UserError.isInstance(error) && error.code === 'object_too_large') return null;
    throw error;
  }
}
