/**
 * Reports time that does not count: so many milliseconds that have just passed, or the time from now until a promise
 * settles.
 */
export type Waited = (time: number | Promise<unknown>) => void;

/** One activity of a run, with the intervals in which it waited for something external. In milliseconds. */
interface Activity {
  start: number;
  /** Null while it is under way. */
  end: number | null;
  waits: Wait[];
}

/** `to` is null while it lasts. */
interface Wait {
  from: number;
  to: number | null;
}

/**
 * Adds up the time during which everything in a run was waiting for something external, such as a provider's rate
 * limit.
 */
export class WaitingTime {
  readonly #now: () => number;
  /** The activities since the last moment at which none was under way. */
  #activities: Activity[] = [];
  #underWay = 0;
  #settledMs = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  get milliseconds(): number {
    return this.#settledMs + this.#unsettled();
  }

  /** @param work gets a function to report that it waits for something external */
  async during<Result>(work: (waited: Waited) => Promise<Result>): Promise<Result> {
    const activity: Activity = { start: this.#now(), end: null, waits: [] };
    this.#activities.push(activity);
    this.#underWay += 1;
    try {
      return await work((time) => activity.waits.push(this.#waitOf(time)));
    } finally {
      activity.end = this.#now();
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#settle();
    }
  }

  #waitOf(time: number | Promise<unknown>): Wait {
    const now = this.#now();
    if (typeof time === 'number') return { from: now - time, to: now };
    const wait: Wait = { from: now, to: null };
    const end = () => {
      wait.to = this.#now();
    };
    time.then(end, end);
    return wait;
  }

  #settle(): void {
    this.#settledMs += this.#unsettled();
    this.#activities = [];
  }

  #unsettled(): number {
    return allWaiting(this.#activities, this.#now());
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
function union(stretches: readonly Wait[], start: number, end: number) {
  const merged: { from: number; to: number }[] = [];
  for (const { from, to } of stretches.toSorted((one, other) => one.from - other.from)) {
    const last = merged.at(-1);
    const begin = Math.max(from, start, last?.to ?? start);
    const finish = Math.min(to ?? end, end);
    if (begin >= finish) continue;
    if (last !== undefined && begin === last.to) last.to = finish;
    else merged.push({ from: begin, to: finish });
  }
  return merged;
}
