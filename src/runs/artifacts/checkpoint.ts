import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { sha256 } from '../../lib/hash.ts';
import { ObjectId } from '../../schema/index.ts';

/** A piece of a file, kept under its hash. */
const Part = z.strictObject({ sha256: ObjectId, bytes: z.int().min(1) });
export type Part = z.infer<typeof Part>;

/** Of a run, and of its archived attempts; nothing that a sandbox can write to. */
const runFile =
  /^(attempts\/[1-9]\d*\/)?(run\.json|trace\.jsonl(\.zst)?|(grades|verifications|rubric)\.jsonl|(branches\/b[1-9]\d*\/)?outputs\/step-\d+\.txt|decisions\/(main|b[1-9]\d*)-\d+-[0-9a-f]+\.json)$/;

export const isRunFile = (name: string): boolean => runFile.test(name);

/** What a store holds of a run: one document that is replaced as a whole, and refers to what never changes. */
export const Checkpoint = z.strictObject({
  v: z.literal(1),
  /** Each new owner of the run has a higher one. */
  epoch: z.int().min(1),
  /** Of the owner, and of no other. */
  claim: z.string(),
  /** The machine of the owner. */
  host: z.string(),
  /** The run's files by their names, and of which parts they are made. */
  files: z.record(z.string().regex(runFile), z.array(Part)),
  /** A list of the objects that the run refers to, a key a line. */
  objects: z.array(Part),
});
export type Checkpoint = z.infer<typeof Checkpoint>;

export type Contents = Pick<Checkpoint, 'files' | 'objects'>;

export const hasSameFiles = (one: Contents, other: Contents): boolean =>
  isDeepStrictEqual(one.files, other.files);

/**
 * Divides a file into parts, of which as many as possible are known. A new part takes in shorter ones before it, so that
 * a file that grows has few, and each byte of it is sent a few times at most.
 */
export function partsOf(content: Buffer, known: readonly Part[]): { parts: Part[]; added: Buffer | null } {
  const parts: Part[] = [];
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
