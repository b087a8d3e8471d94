import { lstatSync, mkdirSync, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode, UserError } from '../lib/errors.ts';
import { judgeEntryPath } from './entry-path.ts';

interface UnpackLimits {
  bytes: number;
  entries: number;
  /** Size of the archive itself. */
  archiveBytes: number;
}

/** Real data stays far below: sparse tables reach about 50, while Deflate can reach 1,032. */
const ratioMax = 250;
/** Small archives may have any ratio. */
const ratioFreeBytes = 64 * 2 ** 20;

/** The folder into which an archive is unpacked: checks every entry and counts what is written. */
export class UnpackTarget {
  files = 0;
  bytes = 0;
  private entries = 0;
  private readonly folder: string;
  private readonly limits: UnpackLimits;

  constructor(folder: string, limits: UnpackLimits) {
    this.folder = folder;
    this.limits = limits;
  }

  /**
   * Counts an entry of any kind.
   * @throws UserError if there are too many
   */
  count(): void {
    this.entries += 1;
    if (this.entries > this.limits.entries) throw bomb(`it has more than ${this.limits.entries} entries`);
  }

  addFolder(name: string): void {
    if (/^[./]*$/.test(name) && !name.includes('..') && !name.startsWith('/')) return;
    mkdirSync(this.place(name), { recursive: true, mode: 0o755 });
  }

  /**
   * Writes one file, never over another one. The content may be longer than announced, so the actual bytes are counted.
   */
  async addFile(name: string, content: AsyncIterable<Uint8Array>, signal: AbortSignal | null): Promise<void> {
    const path = this.place(name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
    const file = await open(path, 'wx', 0o644).catch((error: unknown) => {
      if (hasCode(error, 'EEXIST')) throw refusal(name, 'the name occurs twice');
      throw error;
    });
    try {
      for await (const chunk of content) {
        signal?.throwIfAborted();
        this.meter(chunk.byteLength);
        await file.appendFile(chunk);
      }
    } finally {
      await file.close();
    }
    this.files += 1;
  }

  private meter(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > this.limits.bytes) {
      throw bomb(
        `it unpacks to more than the ${this.limits.bytes} bytes that the task allows (unpacked_bytes_max)`,
      );
    }
    if (this.bytes > ratioFreeBytes && this.bytes > ratioMax * this.limits.archiveBytes) {
      throw bomb(`it unpacks to more than ${ratioMax} times its size`);
    }
  }

  /** Absolute path for an entry. No link can be on the way, because none is ever created, but a file can. */
  private place(name: string): string {
    const judged = judgeEntryPath(name);
    if (!judged.ok) throw refusal(name, judged.reason);
    const path = join(this.folder, judged.path);
    let parent = this.folder;
    for (const segment of judged.path.split('/').slice(0, -1)) {
      parent = join(parent, segment);
      const there = statOf(parent);
      if (there === undefined) break;
      if (!there.isDirectory()) throw refusal(name, 'a file is where its folder should be');
    }
    return path;
  }
}

function statOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** @param name of the entry; shown without control characters */
export function refusal(name: string, reason: string): UserError {
  return new UserError(
    'unsafe_archive',
    `the entry ${JSON.stringify(name.slice(0, 200))} is refused: ${reason}`,
    'nothing was unpacked; check where the archive comes from',
  );
}

function bomb(reason: string): UserError {
  return new UserError(
    'archive_too_large',
    reason,
    'nothing was unpacked; check where the archive comes from',
  );
}
