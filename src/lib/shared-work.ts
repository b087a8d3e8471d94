/** Work that several callers wait for: later callers join it. It is stopped when nobody waits any more. */
export class SharedWork<Value> {
  readonly #stop = new AbortController();
  readonly #value: Promise<Value>;
  #waiting = 0;
  #isOver = false;

  constructor(work: (signal: AbortSignal) => Promise<Value>) {
    this.#value = work(this.#stop.signal).finally(() => {
      this.#isOver = true;
    });
    this.#value.catch(() => {});
  }

  /** Whether it was stopped, so that nobody can join it. */
  get isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  /** @throws the signal's reason, and any error of the work */
  async join(signal: AbortSignal): Promise<Value> {
    signal.throwIfAborted();
    const { promise, reject } = Promise.withResolvers<never>();
    const giveUp = () => reject(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    this.#waiting += 1;
    try {
      return await Promise.race([this.#value, promise]);
    } finally {
      signal.removeEventListener('abort', giveUp);
      this.#waiting -= 1;
      if (this.#waiting === 0 && !this.#isOver) this.#stop.abort(signal.reason);
    }
  }
}
