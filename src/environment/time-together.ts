/** Adds up the time during which at least one of several things was under way. */
export class TimeTogether {
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

  /** Marks the start of one; the returned function marks its end, once. */
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
