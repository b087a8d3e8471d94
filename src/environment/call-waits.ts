/**
 * Pauses a run's clock while its model calls wait for others: for their provider, or for calls of other runs. While one
 * of its own calls is being answered, the others may be waiting for that one, so the clock runs.
 */
export class CallWaits {
  readonly #pause: () => () => void;
  #waiting = 0;
  #sent = 0;
  /** Null: the clock runs. */
  #resume: (() => void) | null = null;

  /** @param pause stops the clock until the returned function is called */
  constructor(pause: () => () => void) {
    this.#pause = pause;
  }

  /** A call waits until this settles. */
  waits(until: Promise<unknown>): void {
    this.#during(until, (change) => {
      this.#waiting += change;
    });
  }

  /** A call was sent, and is being answered until this settles. */
  sent(until: Promise<unknown>): void {
    this.#during(until, (change) => {
      this.#sent += change;
    });
  }

  #during(until: Promise<unknown>, count: (change: 1 | -1) => void): void {
    const change = (by: 1 | -1) => {
      count(by);
      this.#update();
    };
    const end = () => change(-1);
    change(1);
    until.then(end, end);
  }

  #update(): void {
    if (this.#waiting > 0 && this.#sent === 0) {
      this.#resume ??= this.#pause();
      return;
    }
    this.#resume?.();
    this.#resume = null;
  }
}
