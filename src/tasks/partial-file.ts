import { readFileSync, rmSync, statSync } from 'node:fs';
import { z } from 'zod';
import { writeFileAtomically } from '../lib/atomic-file.ts';

/** What tells whether a file on a server is still the one that was begun. */
const Origin = z.object({
  url: z.string(),
  /** A strong ETag or a Last-Modified date, for If-Range; null where the server gives neither. */
  validator: z.string().nullable(),
  total: z.int().nullable(),
});
export type Origin = z.infer<typeof Origin>;

/** A download under way: `<file>.part`, and `<file>.part.json` that says where it comes from. */
export class PartialFile {
  readonly path: string;
  private readonly notes: string;

  constructor(destination: string) {
    this.path = `${destination}.part`;
    this.notes = `${destination}.part.json`;
  }

  /** Bytes that are there. */
  size(): number {
    return statSync(this.path, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Null: nothing is known, so it can't be gone on with. */
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
