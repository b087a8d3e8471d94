import { performance } from 'node:perf_hooks';

/** Knows whether an agent still does anything that can be seen. */
export class Activity {
  #underWay = 0;
  #last = performance.now();

  /** How many things it does now. */
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
