import { z } from 'zod';
import { ObjectId } from './ids.ts';

/** One entry of a workspace snapshot. */
export const SnapshotEntry = z.union([
  z.object({
    path: z.string(),
    object: ObjectId,
    size: z.int().min(0),
    /** Permission bits. */
    mode: z.int(),
    /** Time of the last change of the content, milliseconds since 1970. */
    mtime: z.number(),
  }),
  z.object({ path: z.string(), link: z.string() }),
  /** Included so that empty folders are restored, too. */
  z.object({ path: z.string(), folder: z.literal(true) }),
]);
export type SnapshotEntry = z.infer<typeof SnapshotEntry>;

/** A workspace at one moment, entries sorted by path; stored as an object. */
export const Snapshot = z.object({ v: z.literal(1), entries: z.array(SnapshotEntry) });
export type Snapshot = z.infer<typeof Snapshot>;
