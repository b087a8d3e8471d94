import { fstatSync } from 'node:fs';
import { UserError } from '../lib/errors.ts';
import { readRangeSync } from './file-chunks.ts';

/**
 * One entry of the table at the end of a file of many Zstandard frames. The table says where each frame begins, so that
 * any part of the content can be read without the preceding ones. It is in a frame that every decompressor skips. This
 * is the "Zstandard seekable format", without its optional checksums.
 */
export interface Frame {
  /** Its offset in the file, and its length there. */
  at: number;
  stored: number;
  /** The offset of its content, and its length. */
  from: number;
  bytes: number;
}

const skippableMagic = 0x184d2a5e;
const seekableMagic = 0x8f92eab1;
const headBytes = 8;
const entryBytes = 8;
const footBytes = 9;
const maxFrameBytes = 2 ** 28;

export function seekTable(frames: readonly { stored: number; bytes: number }[]): Buffer {
  const table = Buffer.alloc(headBytes + entryBytes * frames.length + footBytes);
  table.writeUInt32LE(skippableMagic, 0);
  table.writeUInt32LE(table.length - headBytes, 4);
  for (const [index, { stored, bytes }] of frames.entries()) {
    table.writeUInt32LE(stored, headBytes + entryBytes * index);
    table.writeUInt32LE(bytes, headBytes + entryBytes * index + 4);
  }
  table.writeUInt32LE(frames.length, table.length - footBytes);
  table.writeUInt32LE(seekableMagic, table.length - 4);
  return table;
}

/** @throws UserError `broken_file` */
export function readSeekTable(descriptor: number, path: string): Frame[] {
  const { size } = fstatSync(descriptor);
  const foot = readRangeSync(descriptor, Math.max(0, size - footBytes), size);
  if (foot.length < footBytes || foot.readUInt32LE(5) !== seekableMagic || foot[4] !== 0)
    throw withoutTable(path);
  const length = headBytes + entryBytes * foot.readUInt32LE(0) + footBytes;
  if (length > size) throw withoutTable(path);
  const table = readRangeSync(descriptor, size - length, size);
  if (table.readUInt32LE(0) !== skippableMagic) throw withoutTable(path);
  const frames: Frame[] = [];
  let at = 0;
  let from = 0;
  for (let entry = headBytes; entry < length - footBytes; entry += entryBytes) {
    const stored = table.readUInt32LE(entry);
    const bytes = table.readUInt32LE(entry + 4);
    // A larger frame was not written by mlab, and would take that much memory.
    if (bytes > maxFrameBytes) throw withoutTable(path);
    frames.push({ at, stored, from, bytes });
    at += stored;
    from += bytes;
  }
  if (at !== size - length) throw withoutTable(path);
  return frames;
}

function withoutTable(path: string): UserError {
  return new UserError(
    'broken_file',
    `${path} is damaged: it does not end with the table of its frames`,
    'Restore the file from a backup, or delete the run and start it again.',
  );
}
