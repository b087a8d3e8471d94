import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { sha256 } from '../../lib/hash.ts';
import { ObjectId } from '../../schema/index.ts';

/** A piece of a file, stored under its hash. */
const Part = z.strictObject({ sha256: ObjectId, bytes: z.int().min(1) });
export type CheckpointPart = z.infer<typeof Part>;

/** Files of a run and of its archived attempts. A sandbox can't write to any of them. */
const runFile =
  /^(attempts\/[1-9]\d*\/)?(run\.json|trace\.jsonl(\.zst)?|(grades|verifications|rubric)\.jsonl|(branches\/b[1-9]\d*\/)?outputs\/step-\d+\.txt|decisions\/(main|b[1-9]\d*)-\d+-[0-9a-f]+\.json)$/;

export const isRunFile = (name: string): boolean => runFile.test(name);

/**
 * What a store contains of a run: one document that is replaced as a whole, and refers to objects that never change.
 */
export const Checkpoint = z.strictObject({
  v: z.literal(1),
  /** Higher for each new owner of the run. */
  epoch: z.int().min(1),
  /** Unique to the owner. */
  claim: z.string(),
  /** The owner's machine. */
  host: z.string(),
  /** The run's files by name, with the parts that they consist of. */
  files: z.record(z.string().regex(runFile), z.array(Part)),
  /** A list of the objects that the run refers to, one key per line. */
  objects: z.array(Part),
});
export type Checkpoint = z.infer<typeof Checkpoint>;

export type Contents = Pick<Checkpoint, 'files' | 'objects'>;

export const hasSameFiles = (one: Contents, other: Contents): boolean =>
  isDeepStrictEqual(one.files, other.files);

/**
 * Divides a file into parts, and reuses as many known parts as possible. A new part absorbs shorter ones before it, so
 * that a growing file has few parts, and each of its bytes is sent a few times at most.
 */
export function partsOf(
  content: Buffer,
  known: readonly CheckpointPart[],
): { parts: CheckpointPart[]; added: Buffer | null } {
  const parts: CheckpointPart[] = [];
  let at = 0;
  for (const part of known) {
    if (sha256(content.subarray(at, at + part.bytes)) !== part.sha256) break;
    parts.push(part);
    at += part.bytes;
  }
  if (at === content.length) return { parts, added: null };
  for (
    let last = parts.at(-1);
    last !== undefined && last.bytes <= content.length - at;
    last = parts.at(-1)
  ) {
    parts.pop();
    at -= last.bytes;
  }
  const added = content.subarray(at);
  return { parts: [...parts, { sha256: ObjectId.parse(sha256(added)), bytes: added.length }], added };
}
