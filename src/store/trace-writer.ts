import { closeSync, constants, fdatasync, fdatasyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { hasCode, messageOf, UserError } from '../lib/errors.ts';
import { sha256 } from '../lib/hash.ts';
import { EventPayload, type TextRef, TraceEvent, type TraceHead } from '../schema/index.ts';
import { uncompressTrace } from './compress-trace.ts';
import { parseStoredText } from './documents.ts';
import type { ObjectStore } from './object-store.ts';
import { noHash, readTail, type TraceTail } from './trace-lines.ts';

/** Longer texts become objects, in bytes of UTF-8. */
const inlineTextBytes = 1024;
/** Events of this time share one flush to the disk. */
const syncDelayMs = 100;

/** Who decides whether a file may still be written: the run's lease. Both throw where another process has the run. */
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
 * The one writer of a run's `trace.jsonl`; whoever makes one holds the run's lease. An event is with the operating
 * system when `append` returns, so that a killed process loses nothing. Flushing to the disk, against a power
 * cut, follows in the background.
 */
export class TraceWriter implements AsyncDisposable {
  readonly path: string;
  /** Bytes of a torn last line that opening cut off. */
  readonly repairedBytes: number;
  readonly #objects: ObjectStore;
  readonly #descriptor: number;
  readonly #now: () => number;
  readonly #guard: WriteGuard | undefined;
  #size: number;
  #events: number;
  #hash: string;
  #unsynced = false;
  #timer: NodeJS.Timeout | null = null;
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
   * Opens a trace, or begins a new one; a compressed one is uncompressed. A torn last line is cut off: its event never counted as written.
   * @throws UserError `broken_trace` when the last complete line does not continue the one before
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

  /** What the trace holds now. */
  get head(): TraceHead {
    return { events: this.#events, hash: this.#hash };
  }

  /** Of the trace as it is written, before it is compressed. */
  get bytes(): number {
    return this.#size;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /**
   * Adds one event with one write. When the disk is full nothing is added, and the next call may succeed.
   * @throws what writing it, or flushing earlier ones, failed with; for a payload that fits no schema; UserError `lease_lost`
   */
  append(payload: EventPayload): TraceEvent {
    if (this.#closed) throw new Error('the trace is closed');
    if (this.#failure) throw this.#failure;
    // Parsed, because what JSON can't hold (NaN, say) would make the whole trace unreadable.
    const checked = EventPayload.parse(payload);
    const event: TraceEvent = {
      v: versionOf(checked),
      seq: this.#events,
      time: this.#now(),
      prev: this.#hash,
      ...checked,
    };
    const line = Buffer.from(JSON.stringify(event), 'utf8');
    this.#guard?.mayWrite();
    this.#write(Buffer.concat([line, Buffer.of(0x0a)]));
    this.#confirm();
    this.#events += 1;
    this.#hash = sha256(line);
    this.#requestSync();
    return event;
  }

  /** A text for an event: short ones inline, others as an object. Lone surrogates become U+FFFD. */
  textRef(text: string): TextRef {
    const content = text.toWellFormed();
    const bytes = Buffer.byteLength(content);
    if (bytes <= inlineTextBytes) return { text: content };
    return { object: this.#objects.putText(content), bytes };
  }

  /** Flushes all events to the disk, at once. */
  sync(): void {
    if (this.#failure) throw this.#failure;
    ignoreUnsupported(() => fdatasyncSync(this.#descriptor));
    this.#unsynced = false;
  }

  /** As `sync`, without keeping others waiting; of a closed trace, nothing is to be done. Returns what is on the disk then. */
  async flush(): Promise<TraceHead> {
    const { head } = this;
    if (this.#closed) return head;
    // One that is under way may have begun before the last event.
    if (this.#syncing) await this.#syncing;
    if (this.#unsynced && !this.#failure && !this.#closed) await this.#startSync();
    if (this.#failure) throw this.#failure;
    return head;
  }

  /** Flushes and closes; again is harmless. Throws what flushing failed with. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
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

  /** What a successor may not find was not written. */
  #confirm(): void {
    try {
      this.#guard?.wrote();
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(messageOf(error));
      throw error;
    }
  }

  /** Half a line would spoil the next one. */
  #undoPartOfLine(cause: unknown): void {
    try {
      ftruncateSync(this.#descriptor, this.#size);
    } catch (error) {
      this.#failure = new Error(`${this.path} can't be written: ${messageOf(error)}`, { cause });
    }
  }

  #requestSync(): void {
    this.#unsynced = true;
    if (this.#timer || this.#syncing) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      // `close` awaits it; it never rejects.
      void this.#startSync();
    }, syncDelayMs);
    this.#timer.unref();
  }

  /** At most one is under way. */
  #startSync(): Promise<void> {
    this.#unsynced = false;
    this.#syncing = new Promise<void>((resolve) => {
      fdatasync(this.#descriptor, (error) => {
        this.#syncing = null;
        if (error && !isUnsupported(error)) this.#failure ??= error;
        if (this.#unsynced && !this.#closed) this.#requestSync();
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

/** How many events there are, as the last one says; checked against the line before. */
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

/** The oldest readers that understand it may read it. */
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

/** Some network and user-space file systems know no flushing. */
function isUnsupported(error: unknown): boolean {
  return ['EINVAL', 'ENOSYS', 'ENOTSUP'].some((code) => hasCode(error, code));
}
