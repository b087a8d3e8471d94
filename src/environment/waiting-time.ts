/** One activity of a run, with the intervals in which it waited for something external. In milliseconds. */
interface Activity {
  start: number;
  /** Null while it is under way. */
  end: number | null;
  waits: { from: number; to: number }[];
}

/**
 * Adds up the time during which everything in a run was waiting for something external, such as a provider's rate
 * limit. Waits are reported when they are over.
 */
export class WaitingTime {
  readonly #now: () => number;
  /** The activities since the last moment at which none was under way. */
  #activities: Activity[] = [];
  #underWay = 0;
  #overlapped = false;
  #settledMs = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  get milliseconds(): number {
    return this.#settledMs + this.#unsettled();
  }

  /** @param work gets a function to report that it has just waited for so many milliseconds */
  async during<Result>(work: (waited: (milliseconds: number) => void) => Promise<Result>): Promise<Result> {
    const activity: Activity = { start: this.#now(), end: null, waits: [] };
    this.#activities.push(activity);
    this.#underWay += 1;
    this.#overlapped ||= this.#underWay > 1;
    try {
      return await work((milliseconds) => {
        const to = this.#now();
        activity.waits.push({ from: to - milliseconds, to });
      });
    } finally {
      activity.end = this.#now();
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#settle();
    }
  }

  #settle(): void {
    this.#settledMs += this.#unsettled();
    this.#activities = [];
    this.#overlapped = false;
  }

  #unsettled(): number {
    if (this.#activities.length === 0) return 0;
    if (this.#overlapped) return allWaiting(this.#activities, this.#now());
    const waits = this.#activities.flatMap((activity) => activity.waits);
    return waits.reduce((sum, { from, to }) => sum + to - from, 0);
  }
}

/** How long all activities were waiting at the same time. */
function allWaiting(activities: readonly Activity[], now: number): number {
  const changes: { at: number; underWay: number; waiting: number }[] = [];
  for (const { start, end, waits } of activities) {
    const last = end ?? now;
    changes.push({ at: start, underWay: 1, waiting: 0 }, { at: last, underWay: -1, waiting: 0 });
    for (const { from, to } of union(waits, start, last)) {
      changes.push({ at: from, underWay: 0, waiting: 1 }, { at: to, underWay: 0, waiting: -1 });
    }
  }
  changes.sort((one, other) => one.at - other.at);
  let [total, underWay, waiting, since] = [0, 0, 0, 0];
  for (const change of changes) {
    if (underWay > 0 && underWay === waiting) total += change.at - since;
    underWay += change.underWay;
    waiting += change.waiting;
    since = change.at;
  }
  return total;
}

/** The same intervals without overlaps, within bounds. */
function union(stretches: readonly { from: number; to: number }[], start: number, end: number) {
  const merged: { from: number; to: number }[] = [];
  for (const { from, to } of stretches.toSorted((one, other) => one.from - other.from)) {
    const last = merged.at(-1);
    const begin = Math.max(from, start, last?.to ?? start);
    const finish = Math.min(to, end);
    if (begin >= finish) continue;
    if (last !== undefined && begin === last.to) last.to = finish;
    else merged.push({ from: begin, to: finish });
  }
  return merged;
}
