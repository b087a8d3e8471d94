import { sha256 } from '../lib/hash.ts';
import { ObjectId, type SnapshotEntry } from '../schema/index.ts';

/** Hash over paths and contents of the declared submission files; null if one of them is missing or not a file. */
export function submissionHash(
  entries: readonly SnapshotEntry[],
  files: readonly { path: string }[],
): ObjectId | null {
  const found: [string, string][] = [];
  for (const { path } of files) {
    const entry = entries.find((candidate) => candidate.path === path);
    if (entry === undefined || !('object' in entry)) return null;
    found.push([path, entry.object]);
  }
  return ObjectId.parse(sha256(JSON.stringify(found)));
}
