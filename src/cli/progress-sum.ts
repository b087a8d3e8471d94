import type { ExperimentProgress } from '../runs/index.ts';
import type { Plan, RunSpec, Spent } from '../schema/index.ts';
import { addCall, nothingSpent } from '../store/index.ts';
import { dollars } from './table.ts';

/** Runs of one agent on one task: they take about as long as each other. */
interface Kind {
  /** Runs that have not begun. */
  queued: number;
  /** Runs that ended in this process, and their duration in all. */
  ended: number;
  tookMs: number;
}

/** Gradings of one task: they take about as long as each other. */
interface Gradings {
  /** Of runs that are not graded yet, whether or not they have ended. */
  left: number;
  done: number;
  tookMs: number;
  /** They time submitted code, so nothing else is executed meanwhile. */
  areAlone: boolean;
}

/** Sums up the progress of the runs of an experiment; each event takes the same time, however many runs there are. */
export class ProgressSum {
  readonly #parallel: number;
  readonly #now: () => number;
  readonly #spent = new Map<string, Spent>();
  readonly #kinds = new Map<string, Kind>();
  /** Planned runs that have not begun. */
  readonly #queued: Set<string>;
  /** Start times of runs under way, by this process's clock in milliseconds. */
  readonly #started = new Map<string, { at: number; kind: Kind }>();
  readonly #over = new Set<string>();
  readonly #gradings = new Map<string, Gradings>();
  /** Runs that are to be graded, whether or not they have ended. */
  readonly #ungraded: Set<string>;
  readonly #finished = new Set<string>();
  /** Finished runs that are to be graded. */
  readonly #awaitGrade = new Set<string>();
  /** Until people have decided on their actions. */
  readonly #waiting = new Set<string>();

  constructor(plan: Plan, now: () => number = () => performance.now()) {
    this.#parallel = plan.parallel;
    this.#now = now;
    this.#queued = new Set(plan.runs.map(({ id }) => id));
    this.#ungraded = new Set(plan.grade === 'none' ? [] : this.#queued);
    for (const run of plan.runs) {
      this.#kindOf(run).queued += 1;
      if (plan.grade !== 'none') this.#gradingsOf(run).left += 1;
    }
  }

  add({ run, ...progress }: ExperimentProgress): void {
    const { id } = run;
    if (progress.kind === 'run_started') {
      const kind = this.#begun(run);
      this.#over.delete(id);
      this.#waiting.delete(id);
      this.#started.set(id, { at: this.#now(), kind });
    } else if (progress.kind === 'run_step' && progress.progress.kind === 'model_called')
      this.#spent.set(id, addCall(this.#spent.get(id) ?? nothingSpent, progress.progress.call));
    else if (progress.kind === 'run_kept' || progress.kind === 'run_ended') {
      const { spent, shared } = progress.record;
      // Includes earlier sessions. What a branch shares with its run is counted there.
      if (spent !== undefined && shared === undefined) this.#spent.set(id, spent);
      const kind = this.#begun(run);
      const started = this.#started.get(id);
      const waits = progress.record.status === 'waiting';
      if (!waits && started !== undefined) {
        kind.ended += 1;
        kind.tookMs += this.#now() - started.at;
      }
      this.#started.delete(id);
      (waits ? this.#waiting : this.#over).add(id);
      const isFinished = progress.record.status === 'finished';
      if (isFinished) this.#finished.add(id);
      if (isFinished && progress.kind === 'run_ended' && this.#ungraded.has(id)) this.#awaitGrade.add(id);
      else if (!waits) this.#needsNoGrade(run);
    } else if (progress.kind === 'run_graded') {
      const gradings = this.#needsNoGrade(run);
      gradings.done += 1;
      for (const { seconds, others_cores: measured } of progress.grades) {
        gradings.tookMs += seconds * 1000;
        gradings.areAlone ||= measured !== undefined;
      }
    } else if (progress.kind === 'run_not_graded') this.#needsNoGrade(run);
  }

  #needsNoGrade(run: RunSpec): Gradings {
    const gradings = this.#gradingsOf(run);
    if (this.#ungraded.delete(run.id)) gradings.left -= 1;
    this.#awaitGrade.delete(run.id);
    return gradings;
  }

  #gradingsOf({ task }: RunSpec): Gradings {
    const known = this.#gradings.get(task) ?? { left: 0, done: 0, tookMs: 0, areAlone: false };
    this.#gradings.set(task, known);
    return known;
  }

  #begun(run: RunSpec): Kind {
    const kind = this.#kindOf(run);
    if (this.#queued.delete(run.id)) kind.queued -= 1;
    return kind;
  }

  #kindOf({ task, agent, agent_options, model }: RunSpec): Kind {
    const name = JSON.stringify([task, agent, agent_options, model]);
    const known = this.#kinds.get(name) ?? { queued: 0, ended: 0, tookMs: 0 };
    this.#kinds.set(name, known);
    return known;
  }

  /** Runs that have ended, or that nobody executes any more. */
  get over(): number {
    return this.#over.size;
  }

  /** `3 of 11 graded`: finished runs; empty while none waits for its grade. */
  get gradedText(): string {
    const finished = this.#finished.size;
    const awaiting = this.#awaitGrade.size;
    return awaiting === 0 ? '' : `${finished - awaiting} of ${finished} graded`;
  }

  /** Runs that nobody executes until a person has decided. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Tokens and their cost; empty if no language model was called. */
  spentText(): string {
    const all = [...this.#spent.values()];
    const tokens = all.reduce((sum, spent) => sum + spent.tokens, 0);
    if (tokens === 0) return '';
    const money = all.reduce((sum, spent) => sum + spent.money, 0);
    const isWhole = all.every(({ unpriced }) => unpriced === 0);
    const price = isWhole ? dollars(money) : money === 0 ? 'price not known' : `at least ${dollars(money)}`;
    return `${amounts.format(tokens)} tokens, ${price}`;
  }

  /**
   * Milliseconds until the last run is graded, if each takes as long as earlier ones of its agent on its task, and its
   * grading as long as earlier ones of the task; null until one of each has ended here, and while a run waits for a
   * person.
   */
  leftMs(): number | null {
    if (this.#waiting.size > 0) return null;
    let sum = 0;
    let longest = 0;
    for (const { queued, ended, tookMs } of this.#kinds.values()) {
      if (queued === 0) continue;
      if (ended === 0) return null;
      sum += (queued * tookMs) / ended;
    }
    for (const { at, kind } of this.#started.values()) {
      if (kind.ended === 0) return null;
      const expected = Math.max(0, kind.tookMs / kind.ended - (this.#now() - at));
      longest = Math.max(longest, expected);
      sum += expected;
    }
    let alone = 0;
    for (const { left, done, tookMs, areAlone } of this.#gradings.values()) {
      if (left === 0) continue;
      if (done === 0) return null;
      const expected = (left * tookMs) / done;
      if (areAlone) alone += expected;
      else sum += expected;
    }
    const isKnown = [...this.#kinds.values()].some(({ ended }) => ended > 0);
    return isKnown ? Math.max(sum / this.#parallel, longest) + alone : null;
  }
}

const amounts = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
