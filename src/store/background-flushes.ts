/** Something whose latest writes may not be on disk yet. */
export interface Flushable {
  flush(): Promise<unknown>;
}

/** How long the first write waits, so that later ones share its flush. */
const delayMs = 100;
/** At most this share of the time is spent on flushing: what else is done on the same disk waits meanwhile. */
const share = 0.2;

/**
 * Flushes the traces of this process one after the other: a flush of one takes most others along, while hundreds at
 * once would keep the disk busy all the time.
 */
class BackgroundFlushes {
  readonly #waiting = new Set<Flushable>();
  #timer: NodeJS.Timeout | null = null;

  /** Flushes it soon. It reports errors itself. */
  add(flushable: Flushable): void {
    this.#waiting.add(flushable);
    this.#timer ??= this.#wait(delayMs);
  }

  #wait(ms: number): NodeJS.Timeout {
    return setTimeout(() => void this.#flush(), ms).unref();
  }

  async #flush(): Promise<void> {
    const began = performance.now();
    const flushed = [...this.#waiting];
    this.#waiting.clear();
    for (const each of flushed) await each.flush().catch(() => {});
    const tookMs = performance.now() - began;
    this.#timer = this.#waiting.size === 0 ? null : this.#wait(Math.max(delayMs, tookMs * (1 / share - 1)));
  }
}

export const backgroundFlushes = new BackgroundFlushes();
