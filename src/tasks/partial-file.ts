import { readFileSync, rmSync, statSync } from 'node:fs';
import { z } from 'zod';
import { writeFileAtomically } from '../lib/atomic-file.ts';

/** Tells whether a file on a server is still the one whose download began. */
const Origin = z.object({
  url: z.string(),
  /** A strong ETag or a Last-Modified date, for If-Range; null if the server gives neither. */
  validator: z.string().nullable(),
  total: z.int().nullable(),
});
export type Origin = z.infer<typeof Origin>;

/** A download under way: `<file>.part`, and `<file>.part.json` with its origin. */
export class PartialFile {
  readonly path: string;
  private readonly notes: string;

  constructor(destination: string) {
    this.path = `${destination}.part`;
    this.notes = `${destination}.part.json`;
  }

  /** Bytes downloaded so far. */
  size(): number {
    return statSync(this.path, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Null: the origin is unknown, so the download can't be resumed. */
  origin(): Origin | null {
    try {
      return Origin.parse(JSON.parse(readFileSync(this.notes, 'utf8')));
    } catch {
      return null;
    }
  }

  begin(origin: Origin): void {
    rmSync(this.path, { force: true });
    writeFileAtomically(this.notes, JSON.stringify(origin));
  }

  discard(): void {
    rmSync(this.path, { force: true });
    rmSync(this.notes, { force: true });
  }
}
