import { isDeepStrictEqual } from 'node:util';
import { sha256 } from '../../lib/hash.ts';
import { openTraceBytes, type TraceBytes } from '../../store/index.ts';
import { factsOf } from './line-facts.ts';
import { addFacts, emptyTable, selectedLineage, type TraceTable } from './trace-table.ts';

const chunkBytes = 2 ** 20;
const lineBreak = 0x0a;
/** The same limit as for all readers of traces. */
const maxLineBytes = 2 ** 26;

export interface Extended {
  table: TraceTable;
  /** Bytes of an unfinished last line. */
  tornBytes: number;
}

/**
 * Reads what was appended to a trace since the table was made, in chunks, so that others get their turn. A trace that
 * was cut or replaced is read from its beginning; a missing one is empty.
 */
export async function extendTable(
  path: string,
  known: TraceTable | null,
  signal?: AbortSignal,
): Promise<Extended> {
  using trace = openTraceBytes(path);
  if (trace === null) return { table: emptyTable(), tornBytes: 0 };
  const { size } = trace;
  let table = known !== null && (await continues(trace, size, known)) ? known : emptyTable();
  await readOn(trace, table, size, signal);
  const lineage = selectedLineage(table);
  if (!isDeepStrictEqual(table.lineage, lineage)) {
    table = emptyTable(lineage);
    await readOn(trace, table, size, signal);
  }
  return { table, tornBytes: table.unreadable === null ? size - table.bytes : 0 };
}

/** Whether the last known line is still where it was. */
async function continues(trace: TraceBytes, size: number, { bytes, lastLine }: TraceTable): Promise<boolean> {
  if (size < bytes) return false;
  const end = Math.max(0, bytes - 1);
  return bytes === 0 || sha256(await trace.read(end - lastLine.bytes, end)) === lastLine.hash;
}

async function readOn(
  trace: TraceBytes,
  table: TraceTable,
  size: number,
  signal?: AbortSignal,
): Promise<void> {
  /** The beginning of an unfinished line. */
  let rest: Buffer = Buffer.alloc(0);
  for (let position = table.bytes; position < size && table.unreadable === null; ) {
    signal?.throwIfAborted();
    // The chunk grows with the line, so that a long line is not copied for each chunk.
    const piece = await trace.read(position, Math.min(size, position + Math.max(chunkBytes, rest.length)));
    if (piece.length === 0) return;
    position += piece.length;
    rest = addLines(table, rest.length === 0 ? piece : Buffer.concat([rest, piece]));
    if (rest.length >= maxLineBytes) table.unreadable = `Line ${table.lines + 1} of its trace has no end.`;
  }
}

/**
 * Adds the complete lines at the beginning of these bytes.
 * @returns the rest
 */
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

function addLine(table: TraceTable, line: Buffer): boolean {
  const facts = factsOf(line);
  const problem =
    facts === null
      ? 'it is not an event that this version of mlab knows'
      : addFacts(table, facts, { offset: table.bytes, bytes: line.length });
  if (problem !== null) {
    table.unreadable = `Line ${table.lines + 1} of its trace can't be read: ${problem}.`;
    return false;
  }
  table.bytes += line.length + 1;
  table.lines += 1;
  return true;
}
