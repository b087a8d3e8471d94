import { closeSync, fstatSync } from 'node:fs';
import { promisify } from 'node:util';
import { zstdDecompress, zstdDecompressSync } from 'node:zlib';
import { hasCode, messageOf, UserError } from '../lib/errors.ts';
import { openRegularFile } from '../lib/regular-file.ts';
import { readRange, readRangeSync } from './file-chunks.ts';
import { type Frame, readSeekTable } from './seek-table.ts';

const decompress = promisify(zstdDecompress);

/** The path of a compressed trace. */
export function compressedPath(tracePath: string): string {
  return `${tracePath}.zst`;
}

/** The bytes of a trace's lines by offset, whether the file is compressed or not. */
export interface TraceBytes extends Disposable {
  /** Of all lines, uncompressed. */
  readonly size: number;
  /** The bytes from one offset up to another, or to the end. The buffer belongs to the reader. */
  read(from: number, to: number): Promise<Buffer>;
  readSync(from: number, to: number): Buffer;
}

/**
 * Opens a trace for reading. Null if there is none.
 * @param path of `trace.jsonl`; if that does not exist, its compressed form is opened
 * @throws UserError `broken_file` for a compressed file without its table
 */
export function openTraceBytes(path: string): TraceBytes | null {
  // The last try is for a trace that was just being uncompressed: the plain file appears before the other is removed.
  return openPlainBytes(path) ?? openCompressedBytes(compressedPath(path)) ?? openPlainBytes(path);
}

export function openPlainBytes(path: string): TraceBytes | null {
  const descriptor = openIfThere(path);
  return descriptor === null ? null : new PlainBytes(descriptor);
}

export function openCompressedBytes(path: string): TraceBytes | null {
  const descriptor = openIfThere(path);
  if (descriptor === null) return null;
  try {
    return new CompressedBytes(descriptor, path, readSeekTable(descriptor, path));
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

function openIfThere(path: string): number | null {
  try {
    return openRegularFile(path, { follow: true });
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

class PlainBytes implements TraceBytes {
  readonly #descriptor: number;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  get size(): number {
    return fstatSync(this.#descriptor).size;
  }

  read(from: number, to: number): Promise<Buffer> {
    return readRange(this.#descriptor, from, to);
  }

  readSync(from: number, to: number): Buffer {
    return readRangeSync(this.#descriptor, from, to);
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }
}

class CompressedBytes implements TraceBytes {
  readonly size: number;
  readonly #descriptor: number;
  readonly #path: string;
  readonly #frames: readonly Frame[];
  /** Sequential readers, forwards or backwards, mostly stay in one frame. */
  #last: { frame: Frame; content: Buffer } | null = null;

  constructor(descriptor: number, path: string, frames: readonly Frame[]) {
    this.#descriptor = descriptor;
    this.#path = path;
    this.#frames = frames;
    const last = frames.at(-1);
    this.size = last === undefined ? 0 : last.from + last.bytes;
  }

  async read(from: number, to: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (const frame of this.#framesIn(from, to)) {
      const content = this.#known(frame) ?? this.#keep(frame, await this.#decompress(frame));
      parts.push(partOf(frame, content, from, to));
    }
    return Buffer.concat(parts);
  }

  readSync(from: number, to: number): Buffer {
    const parts = this.#framesIn(from, to).map((frame) => {
      const content = this.#known(frame) ?? this.#keep(frame, this.#decompressSync(frame));
      return partOf(frame, content, from, to);
    });
    return Buffer.concat(parts);
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }

  #framesIn(from: number, to: number): Frame[] {
    return this.#frames.filter((frame) => frame.from < to && frame.from + frame.bytes > from);
  }

  #known(frame: Frame): Buffer | null {
    return this.#last?.frame === frame ? this.#last.content : null;
  }

  #keep(frame: Frame, content: Buffer): Buffer {
    if (content.length !== frame.bytes) throw this.#damaged(frame, 'it has another length');
    this.#last = { frame, content };
    return content;
  }

  async #decompress(frame: Frame): Promise<Buffer> {
    const { at, stored, bytes } = frame;
    const piece = await readRange(this.#descriptor, at, at + stored);
    try {
      return await decompress(piece, { maxOutputLength: Math.max(bytes, 1) });
    } catch (error) {
      throw this.#damaged(frame, messageOf(error), error);
    }
  }

  #decompressSync(frame: Frame): Buffer {
    const { at, stored, bytes } = frame;
    const piece = readRangeSync(this.#descriptor, at, at + stored);
    try {
      return zstdDecompressSync(piece, { maxOutputLength: Math.max(bytes, 1) });
    } catch (error) {
      throw this.#damaged(frame, messageOf(error), error);
    }
  }

  #damaged({ at }: Frame, reason: string, cause?: unknown): UserError {
    return new UserError(
      'broken_file',
      `${this.#path} is damaged at byte ${at}: ${reason}`,
      'Restore the file from a backup, or delete the run and start it again.',
      { cause },
    );
  }
}

function partOf(frame: Frame, content: Buffer, from: number, to: number): Buffer {
  return content.subarray(Math.max(0, from - frame.from), Math.min(frame.bytes, to - frame.from));
}
