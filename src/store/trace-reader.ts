import { readFileSync } from 'node:fs';
import { type TextRef, TraceEvent } from '../schema/index.ts';
import { parseStoredText } from './documents.ts';
import type { ObjectStore } from './object-store.ts';
import { readLines, readLinesSync } from './trace-lines.ts';

export interface ReadTraceOptions {
  /** Told of a last line that was not written whole; it is no event. */
  onTorn?: (bytes: number) => void;
  signal?: AbortSignal;
}

/**
 * The events of a trace in their order, with the memory of one event. The chain is not checked: see `checkRun`.
 * @throws UserError `broken_file`, `future_version`; and `ENOENT` when there is no trace
 */
export async function* readTrace(path: string, options: ReadTraceOptions = {}): AsyncGenerator<TraceEvent> {
  for await (const line of readLines(path, options.signal)) {
    if (line.torn) options.onTorn?.(line.bytes.length);
    else yield parseStoredText(TraceEvent, line.bytes.toString('utf8'), `${path}, line ${line.number},`);
  }
}

/** A whole trace at once, for folding; see `readTrace`. `tornBytes` is the length of an unfinished last line. */
export function readTraceSync(path: string): { events: TraceEvent[]; tornBytes: number } {
  const bytes = readFileSync(path);
  const complete = bytes.lastIndexOf('\n') + 1;
  const lines = bytes.toString('utf8', 0, complete).split('\n').slice(0, -1);
  const events = lines.map((line, index) => parseStoredText(TraceEvent, line, `${path}, line ${index + 1},`));
  return { events, tornBytes: bytes.length - complete };
}

/** As `readTrace`, for those who can't wait; an unfinished last line is left out. */
export function* eachEventSync(path: string): Generator<TraceEvent> {
  let number = 0;
  for (const line of readLinesSync(path))
    yield parseStoredText(TraceEvent, line, `${path}, line ${++number},`);
}

/** The text that an event refers to. Errors as `ObjectStore.get`. */
export function resolveText(objects: ObjectStore, ref: TextRef): string {
  return 'text' in ref ? ref.text : objects.getText(ref.object);
}
