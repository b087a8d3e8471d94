/** Something whose latest writes may not be on disk yet. */
export interface Flushable {
  flush(): Promise<unknown>;
}

/** How long the first write waits, so that later ones share its flush. */
const delayMs = 100;

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
    // What else is done on the same disk waits meanwhile, so at most half of the time is for this.
    const pauseMs = Math.max(delayMs, performance.now() - began);
    this.#timer = this.#waiting.size === 0 ? null : this.#wait(pauseMs);
  }
}

export const backgroundFlushes = new BackgroundFlushes();
