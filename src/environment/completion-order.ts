import type { Replay } from './replay.ts';
import type { RunEnding } from './run-ending.ts';

/** An agent that waits this long for other results will not request the next recorded one any more. */
const longestQuietMs = 5_000;

interface Waiting {
  resolve(): void;
  reject(error: unknown): void;
}

/** A new completion in the trace; `receiver` is set once its result can be delivered. */
interface Slot {
  receiver: Waiting | null;
}

/**
 * Delivers results to an agent in the order of the trace, so that a resumed agent decides as it did before. With a
 * single branch, requests are served one after another, and this only counts them. With several, each result is delivered in
 * its own turn of the event loop: first everything recorded, then new results, and answers of an ended run once nothing
 * else is under way.
 */
export class CompletionOrder {
  /** Whether the agent may do several things at once. */
  concurrent = false;
  readonly #replay: Replay;
  readonly #state: RunEnding;
  #delivered = 0;
  readonly #claimed = new Map<number, Waiting>();
  readonly #beyond: Waiting[] = [];
  readonly #slots: Slot[] = [];
  readonly #idle = new Map<number, Waiting>();
  #underWay = 0;
  #quietMs = longestQuietMs;
  #scheduled = false;
  #watch: NodeJS.Timeout | null = null;

  constructor(replay: Replay, state: RunEnding) {
    this.#replay = replay;
    this.#state = state;
    state.onFailure((error) => this.#fail(error));
  }

  /** The position of the record that must be claimed next; null if any may be. */
  get next(): number | null {
    return this.concurrent ? null : this.#delivered;
  }

  /** Resolves when the recorded completion at a position is the next to be delivered. */
  async recorded(place: number): Promise<void> {
    if (!this.concurrent) {
      this.#delivered = place + 1;
      return;
    }
    await this.#wait((waiting) => this.#claimed.set(place, waiting));
  }

  /** Resolves when everything recorded has been delivered. */
  async beyond(): Promise<void> {
    if (this.#delivered >= this.#replay.length) return;
    await this.#wait((waiting) => this.#beyond.push(waiting));
  }

  /**
   * Serves a request that the trace has no result for.
   * @param work calls `recorded` when its result is in the trace; otherwise nothing is delivered
   */
  async live<Result>(work: (recorded: () => void) => Promise<Result>): Promise<Result> {
    const slot: Slot = { receiver: null };
    this.#underWay += 1;
    try {
      const result = await work(() => {
        if (this.concurrent) this.#slots.push(slot);
      });
      if (this.#slots.includes(slot)) {
        await this.#wait((waiting) => {
          slot.receiver = waiting;
        });
      }
      return result;
    } finally {
      this.#underWay -= 1;
      this.#advanceLater();
    }
  }

  /** Resolves when nothing is under way and no record is left: for results that are not in the trace. */
  async idle(call: number): Promise<void> {
    if (!this.concurrent) return;
    await this.#wait((waiting) => this.#idle.set(call, waiting));
  }

  /** No more requests will come. */
  close(): void {
    this.#quietMs = 0;
    this.#advanceLater();
  }

  #wait(enter: (waiting: Waiting) => void): Promise<void> {
    const { failure } = this.#state;
    if (failure !== null) return Promise.reject(failure.error);
    return new Promise((resolve, reject) => {
      enter({ resolve, reject });
      this.#advanceLater();
    });
  }

  #advanceLater(): void {
    if (this.#scheduled || !this.concurrent) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      const waiting = this.#nextWaiting();
      if (waiting === null) return;
      waiting.resolve();
      this.#advanceLater();
    });
  }

  /** The next receiver, so that its reaction is complete before the next result is delivered. */
  #nextWaiting(): Waiting | null {
    if (this.#delivered < this.#replay.length) return this.#nextRecorded();
    const beyond = this.#beyond.shift();
    if (beyond !== undefined) return beyond;
    const [slot] = this.#slots;
    if (slot !== undefined) {
      if (slot.receiver !== null) this.#slots.shift();
      return slot.receiver;
    }
    if (this.#underWay > 0 || this.#idle.size === 0) return null;
    const first = Math.min(...this.#idle.keys());
    const waiting = this.#idle.get(first) ?? null;
    this.#idle.delete(first);
    return waiting;
  }

  #nextRecorded(): Waiting | null {
    const next = this.#delivered;
    const waiting = this.#claimed.get(next) ?? null;
    if (this.#watch !== null) clearTimeout(this.#watch);
    this.#watch = null;
    if (waiting !== null) {
      this.#claimed.delete(next);
      this.#delivered += 1;
    } else if (this.#isWaitedFor) {
      this.#watch = setTimeout(() => {
        if (this.#delivered === next && !this.#claimed.has(next))
          this.#state.fail(this.#replay.unclaimed(next));
      }, this.#quietMs);
    }
    return waiting;
  }

  get #isWaitedFor(): boolean {
    return this.#claimed.size + this.#beyond.length + this.#idle.size > 0;
  }

  #fail(error: unknown): void {
    if (this.#watch !== null) clearTimeout(this.#watch);
    const slots = this.#slots.splice(0).flatMap(({ receiver }) => receiver ?? []);
    const all = [...this.#claimed.values(), ...this.#beyond.splice(0), ...slots, ...this.#idle.values()];
    this.#claimed.clear();
    this.#idle.clear();
    for (const { reject } of all) reject(error);
  }
}
