import type { Replay } from './replay.ts';
import type { RunState } from './run-state.ts';

/** An agent that waits for so long for something other than what is recorded next will not ask for that any more. */
const longestQuietMs = 5_000;

interface Waiting {
  resolve(): void;
  reject(error: unknown): void;
}

/** A completion that is in the trace; `tell` is there once what came of it can be told. */
interface Slot {
  tell: Waiting | null;
}

/**
 * Tells an agent of what came of the things that it asked for in the order in which the trace has them: what it does next
 * depends on nothing else. As long as it has one branch, it does one thing after another, and this only counts. From then
 * on each is told in a turn of the event loop of its own; what is recorded comes before all that is done anew, and what a
 * run that has ended answers comes when nothing else is under way.
 */
export class CompletionOrder {
  /** Whether the agent may do several things at once. */
  concurrent = false;
  readonly #replay: Replay;
  readonly #state: RunState;
  #told = 0;
  readonly #claimed = new Map<number, Waiting>();
  readonly #beyond: Waiting[] = [];
  readonly #slots: Slot[] = [];
  readonly #idle = new Map<number, Waiting>();
  #underWay = 0;
  #quietMs = longestQuietMs;
  #scheduled = false;
  #watch: NodeJS.Timeout | null = null;

  constructor(replay: Replay, state: RunState) {
    this.#replay = replay;
    this.#state = state;
    state.onFailure((error) => this.#fail(error));
  }

  /** Where the record lies that must be claimed next; null where any may be. */
  get next(): number | null {
    return this.concurrent ? null : this.#told;
  }

  /** Resolves when the recorded completion at a place is the next one to be told. */
  async recorded(place: number): Promise<void> {
    if (!this.concurrent) {
      this.#told = place + 1;
      return;
    }
    await this.#wait((waiting) => this.#claimed.set(place, waiting));
  }

  /** Resolves when everything that is recorded was told. */
  async beyond(): Promise<void> {
    if (this.#told >= this.#replay.length) return;
    await this.#wait((waiting) => this.#beyond.push(waiting));
  }

  /**
   * Does something anew.
   * @param work calls `recorded` at the moment at which what came of it is in the trace; without it, nothing is told
   */
  async live<Result>(work: (recorded: () => void) => Promise<Result>): Promise<Result> {
    const slot: Slot = { tell: null };
    this.#underWay += 1;
    try {
      const result = await work(() => {
        if (this.concurrent) this.#slots.push(slot);
      });
      if (this.#slots.includes(slot)) {
        await this.#wait((waiting) => {
          slot.tell = waiting;
        });
      }
      return result;
    } finally {
      this.#underWay -= 1;
      this.#advanceLater();
    }
  }

  /** Resolves when nothing is under way, and nothing recorded is left: for what the trace does not have. */
  async idle(call: number): Promise<void> {
    if (!this.concurrent) return;
    await this.#wait((waiting) => this.#idle.set(call, waiting));
  }

  /** Nobody asks for anything more. */
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

  /** Who is told now, so that all that it does about it is done before the next is told. */
  #nextWaiting(): Waiting | null {
    if (this.#told < this.#replay.length) return this.#nextRecorded();
    const beyond = this.#beyond.shift();
    if (beyond !== undefined) return beyond;
    const [slot] = this.#slots;
    if (slot !== undefined) {
      if (slot.tell !== null) this.#slots.shift();
      return slot.tell;
    }
    if (this.#underWay > 0 || this.#idle.size === 0) return null;
    const first = Math.min(...this.#idle.keys());
    const waiting = this.#idle.get(first) ?? null;
    this.#idle.delete(first);
    return waiting;
  }

  #nextRecorded(): Waiting | null {
    const next = this.#told;
    const waiting = this.#claimed.get(next) ?? null;
    if (this.#watch !== null) clearTimeout(this.#watch);
    this.#watch = null;
    if (waiting !== null) {
      this.#claimed.delete(next);
      this.#told += 1;
    } else if (this.#isWaitedFor) {
      this.#watch = setTimeout(() => {
        if (this.#told === next && !this.#claimed.has(next)) this.#state.fail(this.#replay.unclaimed(next));
      }, this.#quietMs);
    }
    return waiting;
  }

  get #isWaitedFor(): boolean {
    return this.#claimed.size + this.#beyond.length + this.#idle.size > 0;
  }

  #fail(error: unknown): void {
    if (this.#watch !== null) clearTimeout(this.#watch);
    const slots = this.#slots.splice(0).flatMap(({ tell }) => tell ?? []);
    const all = [...this.#claimed.values(), ...this.#beyond.splice(0), ...slots, ...this.#idle.values()];
    this.#claimed.clear();
    this.#idle.clear();
    for (const { reject } of all) reject(error);
  }
}
