import type { ExperimentProgress } from '../runs/index.ts';
import type { Plan, RunSpec, Spent } from '../schema/index.ts';
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
  /** Durations of runs that ended in this process, in milliseconds, by what was run. */
  readonly #took = new Map<string, number[]>();

  constructor(plan: Plan, now: () => number = () => performance.now()) {
    this.#plan = plan;
    this.#now = now;
  }

  add({ run, ...progress }: ExperimentProgress): void {
    const { id } = run;
    if (progress.kind === 'run_started') this.#started.set(id, this.#now());
    else if (progress.kind === 'run_step' && progress.progress.kind === 'model_called')
      this.#spent.set(id, addCall(this.#spent.get(id) ?? nothingSpent, progress.progress.call));
    else if (progress.kind === 'run_kept' || progress.kind === 'run_ended') {
      const { spent, shared } = progress.record;
      // Includes earlier sessions. What a branch shares with its run is counted there.
      if (spent !== undefined && shared === undefined) this.#spent.set(id, spent);
      const started = this.#started.get(id);
      if (started !== undefined) {
        const kind = kindOf(run);
        this.#took.set(kind, [...(this.#took.get(kind) ?? []), this.#now() - started]);
      }
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

  /**
   * Milliseconds until the last run ends, if each takes as long as earlier ones of its agent on its task; null until one
   * of each has ended here.
   */
  leftMs(): number | null {
    const left: number[] = [];
    let longest = 0;
    for (const run of this.#plan.runs) {
      if (this.#over.has(run.id)) continue;
      const took = this.#took.get(kindOf(run));
      if (took === undefined) return null;
      const started = this.#started.get(run.id);
      const expected = Math.max(0, mean(took) - (started === undefined ? 0 : this.#now() - started));
      if (started !== undefined) longest = Math.max(longest, expected);
      left.push(expected);
    }
    if (this.#took.size === 0) return null;
    return Math.max(left.reduce((sum, each) => sum + each, 0) / this.#plan.parallel, longest);
  }
}

/** Runs that take about as long as each other. */
function kindOf({ task, agent, agent_options, model }: RunSpec): string {
  return JSON.stringify([task, agent, agent_options, model]);
}

const amounts = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
