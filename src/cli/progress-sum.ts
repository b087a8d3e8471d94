import type { ExperimentProgress } from '../runs/index.ts';
import type { Plan, Spent } from '../schema/index.ts';
import { mean } from '../statistics/index.ts';
import { addCall, nothingSpent } from '../store/index.ts';
import { dollars } from './table.ts';

/** Sums up the progress of the runs of an experiment. */
export class ProgressSum {
  readonly #plan: Plan;
  readonly #now: () => number;
  readonly #spent = new Map<string, Spent>();
  /** Start times of runs under way, by this process's clock in milliseconds. */
  readonly #started = new Map<string, number>();
  readonly #over = new Set<string>();
  /** Durations of runs that ended in this process, in milliseconds. */
  readonly #took: number[] = [];

  constructor(plan: Plan, now: () => number = () => performance.now()) {
    this.#plan = plan;
    this.#now = now;
  }

  add({ run: { id }, ...progress }: ExperimentProgress): void {
    if (progress.kind === 'run_started') this.#started.set(id, this.#now());
    else if (progress.kind === 'run_step' && progress.progress.kind === 'model_called')
      this.#spent.set(id, addCall(this.#spent.get(id) ?? nothingSpent, progress.progress.call));
    else if (progress.kind === 'run_kept' || progress.kind === 'run_ended') {
      const { spent, shared } = progress.record;
      // Includes earlier sessions. What a branch shares with its run is counted there.
      if (spent !== undefined && shared === undefined) this.#spent.set(id, spent);
      const started = this.#started.get(id);
      if (started !== undefined) this.#took.push(this.#now() - started);
      this.#started.delete(id);
      this.#over.add(id);
    }
  }

  /** Runs that have ended, or that nobody executes any more. */
  get over(): number {
    return this.#over.size;
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

  /** Milliseconds until the last run ends, if runs take as long as those before; null until one has ended here. */
  leftMs(): number | null {
    if (this.#took.length === 0) return null;
    const usual = mean(this.#took);
    const underWay = [...this.#started.values()].map((started) =>
      Math.max(0, usual - (this.#now() - started)),
    );
    const waiting = this.#plan.runs.length - this.#over.size - underWay.length;
    const work = underWay.reduce((sum, left) => sum + left, waiting * usual);
    return Math.max(work / this.#plan.parallel, ...underWay);
  }
}

const amounts = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
