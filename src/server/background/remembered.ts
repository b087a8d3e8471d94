import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../../lib/errors.ts';
import type { Progress } from '../../schema/index.ts';

interface Entry<Value> {
  /** What it was made of. */
  state: string;
  value: Value | null;
  failure: UserError | null;
  madeAt: number;
  tookMs: number;
}

export interface Answer<Value> {
  /** What is known: of the newest state, or of an earlier one. */
  value: Value | null;
  /** Why it can't be made. */
  failure: UserError | null;
  /** Null where nothing newer is on its way. */
  pending: Progress | null;
}

type Make<Value> = (onProgress: (done: number, total: number) => void) => Promise<Value>;

export interface RememberedOptions {
  /** How many are kept; the oldest go first. */
  most: number;
  onProgress: (key: string, progress: Progress) => void;
  onDone: (key: string) => void;
}

/**
 * What takes long to make, by key and by the state of what it is made of. It is made once at a time; what changes all the
 * time, as a run that goes on, is made anew no more often than it can be afforded.
 */
export class Remembered<Value> implements Disposable {
  readonly #options: RememberedOptions;
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #making = new Map<string, { progress: Progress; done: Promise<void> }>();
  /** Those that are asked for and made when they have rested. */
  readonly #resting = new Map<string, NodeJS.Timeout>();

  constructor(options: RememberedOptions) {
    this.#options = options;
  }

  [Symbol.dispose](): void {
    for (const timer of this.#resting.values()) clearTimeout(timer);
    this.#resting.clear();
  }

  /** @param patienceMs so long it waits for what is made now, before it says that it is on its way */
  async get(key: string, state: string, patienceMs: number, make: Make<Value>): Promise<Answer<Value>> {
    const known = this.#entries.get(key);
    if (known?.state === state) return answerOf(known, null);
    const rest = known === undefined ? 0 : known.madeAt + restMs(known.tookMs) - Date.now();
    if (rest > 0 && !this.#making.has(key)) {
      this.#startAfter(rest, key, state, make);
      return answerOf(known, null);
    }
    const making = this.#making.get(key) ?? this.#start(key, state, make);
    await Promise.race([making.done, sleep(patienceMs, undefined, { ref: false })]);
    const newest = this.#entries.get(key);
    return answerOf(newest, this.#making.has(key) ? making.progress : null);
  }

  /** Who asked was given what is known, and is told when the newer is there. */
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

const [leastRestMs, mostRestMs] = [1000, 5000];

/** What took long rests longer; but the first time takes far longer than those that follow it. */
function restMs(tookMs: number): number {
  return Math.min(mostRestMs, Math.max(leastRestMs, 4 * tookMs));
}

function answerOf<Value>(entry: Entry<Value> | undefined, pending: Progress | null): Answer<Value> {
  return { value: entry?.value ?? null, failure: entry?.failure ?? null, pending: pending && { ...pending } };
}

function asUserError(error: unknown): UserError {
  if (UserError.isInstance(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new UserError('internal', message, 'This is a bug: please report it.', { cause: error });
}
