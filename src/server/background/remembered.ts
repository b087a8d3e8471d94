import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../../lib/errors.ts';
import type { Progress } from '../../schema/index.ts';

interface Entry<Value> {
  /** The state of its sources. */
  state: string;
  value: Value | null;
  failure: UserError | null;
  madeAt: number;
  tookMs: number;
}

export interface RememberedValue<Value> {
  /** The value, for the newest state or for an earlier one. */
  value: Value | null;
  /** Why it can't be made. */
  failure: UserError | null;
  /** Null if no newer value is being made. */
  pending: Progress | null;
}

type Make<Value> = (onProgress: (done: number, total: number) => void) => Promise<Value>;

export interface RememberedOptions {
  /** How many values are kept; the oldest are dropped. */
  most: number;
  onProgress: (key: string, progress: Progress) => void;
  onDone: (key: string) => void;
}

/**
 * Values that take long to make, by key and by the state of their sources. Each is made once at a time. If the sources
 * change all the time, as for a running run, it is made again only at intervals.
 */
export class Remembered<Value> implements Disposable {
  readonly #options: RememberedOptions;
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #making = new Map<string, { progress: Progress; done: Promise<void> }>();
  /** Requested values that are made after a pause. */
  readonly #resting = new Map<string, NodeJS.Timeout>();

  constructor(options: RememberedOptions) {
    this.#options = options;
  }

  [Symbol.dispose](): void {
    for (const timer of this.#resting.values()) clearTimeout(timer);
    this.#resting.clear();
  }

  /** @param waitMs how long to wait for a value before reporting that it is being made */
  async get(key: string, state: string, waitMs: number, make: Make<Value>): Promise<RememberedValue<Value>> {
    const known = this.#entries.get(key);
    // One whose process was killed says nothing about its sources.
    const isKept = known?.failure?.code !== 'interrupted';
    if (known?.state === state && isKept) return answerOf(known, null);
    const rest = known === undefined ? 0 : known.madeAt + restMs(known.tookMs) - Date.now();
    if (rest > 0 && !this.#making.has(key)) {
      this.#startAfter(rest, key, state, make);
      return answerOf(known, null);
    }
    const making = this.#making.get(key) ?? this.#start(key, state, make);
    await Promise.race([making.done, sleep(waitMs, undefined, { ref: false })]);
    const newest = this.#entries.get(key);
    return answerOf(newest, this.#making.has(key) ? making.progress : null);
  }

  /** The caller got the known value, and is told when the newer one is ready. */
  #startAfter(rest: number, key: string, state: string, make: Make<Value>): void {
    clearTimeout(this.#resting.get(key));
    const timer = setTimeout(() => {
      this.#resting.delete(key);
      if (!this.#making.has(key)) this.#start(key, state, make);
    }, rest);
    this.#resting.set(key, timer.unref());
  }

  #start(key: string, state: string, make: Make<Value>) {
    const progress = { done: 0, total: 0 };
    const begun = Date.now();
    const keep = (value: Value | null, failure: UserError | null) => {
      this.#entries.delete(key);
      this.#entries.set(key, { state, value, failure, madeAt: Date.now(), tookMs: Date.now() - begun });
      const [oldest] = this.#entries.keys();
      if (this.#entries.size > this.#options.most && oldest !== undefined) this.#entries.delete(oldest);
      this.#making.delete(key);
      this.#options.onDone(key);
    };
    const done = make((count, total) => {
      Object.assign(progress, { done: count, total });
      this.#options.onProgress(key, progress);
    }).then(
      (value) => keep(value, null),
      (error: unknown) => keep(this.#entries.get(key)?.value ?? null, asUserError(error)),
    );
    const making = { progress, done };
    this.#making.set(key, making);
    return making;
  }
}

const [minRestMs, maxRestMs] = [1000, 5000];

/** The longer it took, the longer the pause. The first time takes far longer than the following ones. */
function restMs(tookMs: number): number {
  return Math.min(maxRestMs, Math.max(minRestMs, 4 * tookMs));
}

function answerOf<Value>(entry: Entry<Value> | undefined, pending: Progress | null): RememberedValue<Value> {
  return { value: entry?.value ?? null, failure: entry?.failure ?? null, pending: pending && { ...pending } };
}

function asUserError(error: unknown): UserError {
  if (UserError.isInstance(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new UserError('internal', message, 'This is a bug: please report it.', { cause: error });
}
