import { closeSync, constants, fdatasync, fdatasyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { hasCode, messageOf, UserError } from '../lib/errors.ts';
import { sha256 } from '../lib/hash.ts';
import { EventPayload, type TextRef, TraceEvent, type TraceHead } from '../schema/index.ts';
import { backgroundFlushes } from './background-flushes.ts';
import { uncompressTrace } from './compress-trace.ts';
import { parseStoredText } from './documents.ts';
import type { ObjectStore } from './object-store.ts';
import { maxLineBytes, noHash, readTail, type TraceTail } from './trace-lines.ts';

/** Longer texts become objects; in bytes of UTF-8. */
const inlineTextBytes = 1024;

/** Decides whether a file may still be written: the run's lease. Both methods throw if another process has the run. */
export interface WriteGuard {
  mayWrite(): void;
  wrote(): void;
}

export interface TraceWriterOptions {
  /** Milliseconds since 1970. */
  now?: (() => number) | undefined;
  guard?: WriteGuard | undefined;
}

/**
 * The only writer of a run's `trace.jsonl`; its creator holds the run's lease. When `append` returns, the operating
 * system has the event, so that a killed process loses nothing. Flushing to disk, against a power cut, follows in the
 * background.
 */
export class TraceWriter implements AsyncDisposable {
  readonly path: string;
  /** Bytes of a torn last line that were cut off at opening. */
  readonly repairedBytes: number;
  readonly #objects: ObjectStore;
  readonly #descriptor: number;
  readonly #now: () => number;
  readonly #guard: WriteGuard | undefined;
  #size: number;
  #events: number;
  #hash: string;
  #unsynced = false;
  #syncing: Promise<void> | null = null;
  #failure: Error | null = null;
  #closed = false;

  private constructor(
    descriptor: number,
    path: string,
    objects: ObjectStore,
    end: OpenedEnd,
    { now = Date.now, guard }: TraceWriterOptions,
  ) {
    this.path = path;
    this.repairedBytes = end.repairedBytes;
    this.#objects = objects;
    this.#descriptor = descriptor;
    this.#now = now;
    this.#guard = guard;
    this.#size = end.bytes;
    this.#events = end.events;
    this.#hash = end.hash;
  }

  /**
   * Opens a trace, or begins a new one; a compressed one is uncompressed. A torn last line is cut off: its event never
   * counted as written.
   * @throws UserError `broken_trace` if the last complete line does not continue the one before
   */
  static open(path: string, objects: ObjectStore, options: TraceWriterOptions = {}): TraceWriter {
    uncompressTrace(path);
    const descriptor = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o644);
    try {
      const tail = readTail(descriptor, path);
      const events = countEvents(tail, path);
      if (tail.tornBytes > 0) ftruncateSync(descriptor, tail.completeBytes);
      const hash = tail.last === null ? noHash : sha256(tail.last);
      const end = { bytes: tail.completeBytes, events, hash, repairedBytes: tail.tornBytes };
      return new TraceWriter(descriptor, path, objects, end, options);
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
  }

  /** The current length and hash of the trace. */
  get head(): TraceHead {
    return { events: this.#events, hash: this.#hash };
  }

  /** Of the trace as written, before it is compressed. */
  get bytes(): number {
    return this.#size;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /**
   * Adds one event with one write. If the disk is full nothing is added, and the next call may succeed.
   * @throws the error of writing it, or of flushing earlier ones; an error for a payload that does not fit the schema;
   *   UserError `lease_lost`, `event_too_large`: nothing could read such a line
   */
  append(payload: EventPayload): TraceEvent {
    if (this.#closed) throw new Error('the trace is closed');
    if (this.#failure) throw this.#failure;
    // Parsed, because a value that JSON can't represent (NaN, say) would make the whole trace unreadable.
    const checked = EventPayload.parse(payload);
    const event: TraceEvent = {
      v: versionOf(checked),
      seq: this.#events,
      time: this.#now(),
      prev: this.#hash,
      ...checked,
    };
    const written = Buffer.from(`${JSON.stringify(event)}\n`, 'utf8');
    const line = written.subarray(0, -1);
    if (line.length > maxLineBytes) throw tooLarge(event, line.length);
    this.#guard?.mayWrite();
    this.#write(written);
    this.#confirm();
    this.#events += 1;
    this.#hash = sha256(line);
    this.#unsynced = true;
    backgroundFlushes.add(this);
    return event;
  }

  /** A text for an event: short ones inline, others as an object. Lone surrogates become U+FFFD. */
  textRef(text: string): TextRef {
    const content = text.toWellFormed();
    const bytes = Buffer.byteLength(content);
    if (bytes <= inlineTextBytes) return { text: content };
    return { object: this.#objects.putText(content), bytes };
  }

  /** Flushes all events to disk, synchronously. */
  sync(): void {
    if (this.#failure) throw this.#failure;
    ignoreUnsupported(() => fdatasyncSync(this.#descriptor));
    this.#unsynced = false;
  }

  /** As `sync`, without blocking others; does nothing for a closed trace. Returns what is on disk then. */
  async flush(): Promise<TraceHead> {
    const { head } = this;
    if (this.#closed) return head;
    // A flush that is under way may have begun before the last event, and another who waits may begin the next one.
    while (this.#syncing) await this.#syncing;
    if (this.#unsynced && !this.#failure && !this.#closed) await this.#startSync();
    if (this.#failure) throw this.#failure;
    return head;
  }

  /** Flushes and closes; may be called again. Throws the error of flushing. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#syncing) await this.#syncing;
    if (this.#unsynced && !this.#failure) await this.#startSync();
    closeSync(this.#descriptor);
    if (this.#failure) throw this.#failure;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #write(bytes: Buffer): void {
    let written = 0;
    try {
      written = writeSync(this.#descriptor, bytes);
      if (written < bytes.length) written += writeSync(this.#descriptor, bytes, written);
      if (written < bytes.length) throw new Error(`only ${written} of ${bytes.length} bytes were written`);
    } catch (error) {
      this.#undoPartOfLine(error);
      throw error;
    }
    this.#size += bytes.length;
  }

  /** An event that a successor may not see does not count as written. */
  #confirm(): void {
    try {
      this.#guard?.wrote();
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(messageOf(error));
      throw error;
    }
  }

  /** An incomplete line would corrupt the next one. */
  #undoPartOfLine(cause: unknown): void {
    try {
      ftruncateSync(this.#descriptor, this.#size);
    } catch (error) {
      this.#failure = new Error(`${this.path} can't be written: ${messageOf(error)}`, { cause });
    }
  }

  /** At most one runs at a time. */
  #startSync(): Promise<void> {
    this.#unsynced = false;
    this.#syncing = new Promise<void>((resolve) => {
      fdatasync(this.#descriptor, (error) => {
        this.#syncing = null;
        if (error && !isUnsupported(error)) this.#failure ??= error;
        resolve();
      });
    });
    return this.#syncing;
  }
}

interface OpenedEnd {
  bytes: number;
  events: number;
  hash: string;
  repairedBytes: number;
}

/** The number of events, taken from the last one and checked against the line before. */
function countEvents(tail: TraceTail, path: string): number {
  if (tail.last === null) return 0;
  const event = parseStoredText(TraceEvent, tail.last.toString('utf8'), `the last line of ${path}`);
  const previous = tail.beforeLast === null ? noHash : sha256(tail.beforeLast);
  if (event.prev === previous && (event.seq === 0) === (tail.beforeLast === null)) return event.seq + 1;
  throw new UserError(
    'broken_trace',
    `the last event of ${path} does not continue the one before it`,
    'The file was changed by hand or damaged: restore it from a backup, or delete the run and start it again.',
  );
}

/** The lowest version that understands the event. */
function versionOf(payload: EventPayload): TraceEvent['v'] {
  if (payload.kind === 'action_proposed' || payload.kind === 'action_decided') return 3;
  if ('branch' in payload && payload.branch !== undefined) return 3;
  if (payload.kind === 'step_started' && payload.actor !== undefined) return 3;
  if (payload.kind === 'model_call' && payload.asked !== undefined) return 3;
  return payload.kind === 'model_call' && payload.messages.some((message) => 'call' in message) ? 2 : 1;
}

function ignoreUnsupported(sync: () => void): void {
  try {
    sync();
  } catch (error) {
    if (!isUnsupported(error)) throw error;
  }
}

/** Some network and user-space file systems don't support flushing. */
function isUnsupported(error: unknown): boolean {
  return ['EINVAL', 'ENOSYS', 'ENOTSUP'].some((code) => hasCode(error, code));
}

function tooLarge({ kind }: TraceEvent, bytes: number): UserError {
  return new UserError(
    'event_too_large',
    `an event (${kind}) has ${bytes} bytes, and the trace takes ${maxLineBytes}`,
    'What an agent or its model sent is far too much to be recorded.',
  );
}
