import { performance } from 'node:perf_hooks';

/** Tracks whether an agent still does anything observable. */
export class Activity {
  #underWay = 0;
  #last = performance.now();

  /** How many requests are being served now. */
  get underWay(): number {
    return this.#underWay;
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#underWay += 1;
    try {
      return await work();
    } finally {
      this.#underWay -= 1;
      this.#last = performance.now();
    }
  }

  isQuietFor(milliseconds: number): boolean {
    return this.#underWay === 0 && performance.now() - this.#last >= milliseconds;
  }
}
