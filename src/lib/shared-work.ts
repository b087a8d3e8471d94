/** Work that several wait for: whoever comes later joins it. It is stopped when nobody waits for it any more. */
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

  /** It was stopped: there is nothing to join. */
  get isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  /** @throws the signal's reason, and what the work throws */
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
