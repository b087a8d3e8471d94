/** Adds up the time during which at least one of several intervals was open. */
export class BusyTime {
  readonly #now: () => number;
  #underWay = 0;
  #since = 0;
  #total = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  get milliseconds(): number {
    return this.#total + (this.#underWay > 0 ? this.#now() - this.#since : 0);
  }

  /** Starts an interval; the returned function ends it. */
  begin(): () => void {
    if (this.#underWay === 0) this.#since = this.#now();
    this.#underWay += 1;
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#total += this.#now() - this.#since;
    };
  }
}
