import { createHash } from 'node:crypto';
import { closeSync, fdatasyncSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { constants, zstdCompress } from 'node:zlib';
import pLimit from 'p-limit';
import { seekTable } from './seek-table.ts';
import { compressedPath, openCompressedBytes, openPlainBytes, type TraceBytes } from './trace-bytes.ts';

const compress = promisify(zstdCompress);
/** Larger frames compress better; smaller ones make it faster to read a single step. */
const frameBytes = 2 ** 19;
const lineBreak = 0x0a;
/** Hundreds of runs may end together, and each buffer is work for the thread that executes all of them. */
const fewAtOnce = pLimit(2);
const parameters = { [constants.ZSTD_c_compressionLevel]: 9, [constants.ZSTD_c_checksumFlag]: 1 };

/**
 * Compresses the trace of a run that has ended: `trace.jsonl.zst` replaces `trace.jsonl`. The plain file is removed
 * last, when the other one is on disk and was read back; while it exists, it is the one that counts. A trace that is
 * compressed already, or missing, stays as it is. The caller holds the run's lease, and nobody writes the trace.
 * @param verify throws if the caller has lost the lease meanwhile
 */
export function compressTrace(path: string, verify: () => void = () => {}): Promise<void> {
  return fewAtOnce(() => compressFile(path, verify));
}

async function compressFile(path: string, verify: () => void): Promise<void> {
  const target = compressedPath(path);
  const temporary = `${target}.tmp`;
  {
    using plain = openPlainBytes(path);
    if (plain === null) return;
    try {
      const hash = await writeFrames(plain, temporary);
      using packed = openCompressedBytes(temporary);
      if (packed === null || (await hashOf(packed)) !== hash)
        throw new Error(`${temporary} does not have the content of ${path}`);
      verify();
      await rename(temporary, target);
    } finally {
      await rm(temporary, { force: true });
    }
  }
  await syncFolder(dirname(path));
  verify();
  await rm(path);
}

/** Uncompresses a trace for a writer. If there is also a plain one, only that counts. */
export function uncompressTrace(path: string): void {
  const packed = compressedPath(path);
  {
    using plain = openPlainBytes(path);
    using bytes = plain === null ? openCompressedBytes(packed) : null;
    if (bytes !== null) writePlain(bytes, path);
  }
  rmSync(packed, { force: true });
}

/** @returns the hash of the plain content */
async function writeFrames(plain: TraceBytes, path: string): Promise<string> {
  const { size } = plain;
  const hash = createHash('sha256');
  const frames: { stored: number; bytes: number }[] = [];
  await using file = await open(path, 'w');
  for (let from = 0; from < size; ) {
    const content = await wholeLines(plain, from, size);
    hash.update(content);
    const frame = await compress(content, { params: parameters, pledgedSrcSize: content.length });
    await file.writeFile(frame);
    frames.push({ stored: frame.length, bytes: content.length });
    from += content.length;
  }
  await file.writeFile(seekTable(frames));
  await file.datasync();
  return hash.digest('hex');
}

/** The lines of one frame: as many as fit. A longer line gets its own frame. */
async function wholeLines(plain: TraceBytes, from: number, size: number): Promise<Buffer> {
  for (let length = frameBytes; ; length *= 2) {
    const piece = await plain.read(from, Math.min(size, from + length));
    const end = from + piece.length === size ? piece.length : piece.lastIndexOf(lineBreak) + 1;
    if (end > 0) return piece.subarray(0, end);
  }
}

async function hashOf(bytes: TraceBytes): Promise<string> {
  const hash = createHash('sha256');
  for (let from = 0; from < bytes.size; from += frameBytes)
    hash.update(await bytes.read(from, Math.min(bytes.size, from + frameBytes)));
  return hash.digest('hex');
}

function writePlain(bytes: TraceBytes, path: string): void {
  const temporary = `${path}.tmp`;
  const file = openSync(temporary, 'w');
  try {
    for (let from = 0; from < bytes.size; from += frameBytes)
      writeAll(file, bytes.readSync(from, Math.min(bytes.size, from + frameBytes)));
    fdatasyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  syncFolderSync(dirname(path));
}

function writeAll(file: number, content: Uint8Array): void {
  for (let at = 0; at < content.length; ) at += writeSync(file, content, at);
}

/** Makes sure that the new name is on disk before the old one is removed. Not every system can flush a folder. */
async function syncFolder(folder: string): Promise<void> {
  await using opened = await open(folder, 'r');
  // If it can't, a power cut now may bring the plain file back, but loses neither.
  await opened.sync().catch(() => {});
}

function syncFolderSync(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } catch {
    // As in `syncFolder`.
  } finally {
    closeSync(descriptor);
  }
}
