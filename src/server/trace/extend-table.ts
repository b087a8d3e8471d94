import { type FileHandle, open } from 'node:fs/promises';
import { hasCode } from '../../lib/errors.ts';
import { sha256 } from '../../lib/hash.ts';
import { factsOf } from './line-facts.ts';
import { addFacts, emptyTable, type TraceTable } from './trace-table.ts';

const chunkBytes = 2 ** 20;
const lineBreak = 0x0a;
/** As for everybody who reads a trace. */
const maxLineBytes = 2 ** 26;

export interface Extended {
  table: TraceTable;
  /** Bytes of an unfinished last line. */
  tornBytes: number;
}

/**
 * Reads what was appended to a trace since the table was made, piece by piece, so that others get their turn. A trace that
 * was cut or replaced is read from its beginning. One that is not there has nothing.
 */
export async function extendTable(
  path: string,
  known: TraceTable | null,
  signal?: AbortSignal,
): Promise<Extended> {
  await using file = await openIfThere(path);
  if (file === null) return { table: emptyTable(), tornBytes: 0 };
  const { size } = await file.stat();
  const table = known !== null && (await continues(file, size, known)) ? known : emptyTable();
  await readOn(file, table, size, signal);
  return { table, tornBytes: table.broken === null ? size - table.bytes : 0 };
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/** Whether the last line that is known still stands where it stood. */
async function continues(file: FileHandle, size: number, { bytes, lastLine }: TraceTable): Promise<boolean> {
  if (size < bytes) return false;
  const { buffer } = await file.read(
    Buffer.alloc(lastLine.bytes),
    0,
    lastLine.bytes,
    bytes - lastLine.bytes - 1,
  );
  return bytes === 0 || sha256(buffer) === lastLine.hash;
}

async function readOn(
  file: FileHandle,
  table: TraceTable,
  size: number,
  signal?: AbortSignal,
): Promise<void> {
  let buffer = Buffer.allocUnsafe(Math.min(chunkBytes, size - table.bytes));
  /** Bytes at the beginning of the buffer that belong to a line whose end is not read yet. */
  let held = 0;
  for (let position = table.bytes; position < size && table.broken === null; ) {
    signal?.throwIfAborted();
    if (held === buffer.length) buffer = larger(buffer);
    const { bytesRead } = await file.read(
      buffer,
      held,
      Math.min(buffer.length - held, size - position),
      position,
    );
    if (bytesRead === 0) return;
    position += bytesRead;
    const rest = addLines(table, buffer.subarray(0, held + bytesRead));
    held = rest.length;
    buffer.set(rest, 0);
    if (held >= maxLineBytes) table.broken = `Line ${table.lines + 1} of its trace has no end.`;
  }
}

/** Takes in the whole lines at the beginning of these bytes. @returns what is left */
function addLines(table: TraceTable, bytes: Buffer): Buffer {
  let start = 0;
  let last: Buffer | null = null;
  for (let end = bytes.indexOf(lineBreak); end >= 0; end = bytes.indexOf(lineBreak, start)) {
    const line = bytes.subarray(start, end);
    if (!addLine(table, line)) break;
    last = line;
    start = end + 1;
  }
  if (last !== null) table.lastLine = { hash: sha256(last), bytes: last.length };
  return bytes.subarray(start);
}

function larger(buffer: Buffer): Buffer<ArrayBuffer> {
  const more = Buffer.allocUnsafe(Math.max(1024, 2 * buffer.length));
  more.set(buffer);
  return more;
}

function addLine(table: TraceTable, line: Buffer): boolean {
  const facts = factsOf(line);
  const problem =
    facts === null
      ? 'it is no event that this mlab knows'
      : addFacts(table, facts, { offset: table.bytes, bytes: line.length });
  if (problem !== null) {
    table.broken = `Line ${table.lines + 1} of its trace can't be read: ${problem}.`;
    return false;
  }
  table.bytes += line.length + 1;
  table.lines += 1;
  return true;
}
