import { type TextRef, TraceEvent } from '../schema/index.ts';
import { parseStoredText } from './documents.ts';
import type { ObjectStore } from './object-store.ts';
import { readLines, readLinesSync, type TraceLine } from './trace-lines.ts';

export interface ReadTraceOptions {
  /** Called for an incomplete last line, which is not an event. */
  onTorn?: (bytes: number) => void;
  signal?: AbortSignal;
}

/**
 * The events of a trace in order, in the memory of one event. Does not check the hash chain: see `checkRun`.
 * @throws UserError `broken_file`, `future_version`; `ENOENT` if there is no trace
 */
export async function* readTrace(path: string, options: ReadTraceOptions = {}): AsyncGenerator<TraceEvent> {
  for await (const line of readLines(path, options.signal)) {
    if (line.torn) options.onTorn?.(line.bytes.length);
    else yield eventIn(path, line);
  }
}

/** A whole trace at once, for folding; see `readTrace`. `tornBytes` is the length of an unfinished last line. */
export function readTraceSync(path: string): { events: TraceEvent[]; tornBytes: number } {
  let tornBytes = 0;
  const events = [...eachEventSync(path, { onTorn: (bytes) => (tornBytes = bytes) })];
  return { events, tornBytes };
}

/** As `readTrace`, synchronously. */
export function* eachEventSync(
  path: string,
  { onTorn }: Pick<ReadTraceOptions, 'onTorn'> = {},
): Generator<TraceEvent> {
  for (const line of readLinesSync(path)) {
    if (line.torn) onTorn?.(line.bytes.length);
    else yield eventIn(path, line);
  }
}

function eventIn(path: string, { number, bytes }: TraceLine): TraceEvent {
  return parseStoredText(TraceEvent, bytes.toString('utf8'), `${path}, line ${number},`);
}

/** The text that an event refers to. Errors as `ObjectStore.get`. */
export function resolveText(objects: ObjectStore, ref: TextRef): string {
  return 'text' in ref ? ref.text : objects.getText(ref.object);
}
