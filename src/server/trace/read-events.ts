import { TraceEvent } from '../../schema/index.ts';
import { isInLineage, openTraceBytes, parseStoredText } from '../../store/index.ts';
import { rangeOf, type TraceTable } from './trace-table.ts';

const chunkBytes = 2 ** 18;
const lineBreak = 0x0a;
const isOutput = /^\{[^{}]{0,300}"kind":"output"/;

export interface ReadOptions {
  /** Includes the single pieces of output; for a finished step, its observation contains them. */
  withOutput?: boolean;
  signal?: AbortSignal | undefined;
}

/**
 * The events in a range of a trace that begins and ends between lines.
 * @throws UserError `broken_file`, `future_version`
 */
export async function* readEvents(
  path: string,
  { from, to }: { from: number; to: number },
  { withOutput = false, signal }: ReadOptions = {},
): AsyncGenerator<TraceEvent> {
  using trace = openTraceBytes(path);
  if (trace === null) return;
  let rest: Buffer[] = [];
  for (let position = from; position < to; position += chunkBytes) {
    signal?.throwIfAborted();
    const bytes = await trace.read(position, Math.min(to, position + chunkBytes));
    let start = 0;
    for (let end = bytes.indexOf(lineBreak); end >= 0; end = bytes.indexOf(lineBreak, start)) {
      const line = Buffer.concat([...rest, bytes.subarray(start, end)]);
      rest = [];
      start = end + 1;
      if (withOutput || !isOutput.test(line.toString('latin1', 0, 400)))
        yield parseStoredText(TraceEvent, line.toString('utf8'), 'an event of this step');
    }
    rest.push(bytes.subarray(start));
  }
}

/** The events of one step of the table's history, including events of the run before its end. */
export async function* stepEvents(
  path: string,
  table: TraceTable,
  step: number,
  options: ReadOptions = {},
): AsyncGenerator<TraceEvent> {
  for await (const event of readEvents(path, rangeOf(table, step), options))
    if (isInLineage(event, table.lineage)) yield event;
}
