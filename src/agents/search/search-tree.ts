import type { Environment } from '../../environment/index.ts';
import { plainLine } from '../../lib/plain-line.ts';
import { SearchNode, searchNodeEntry } from '../../schema/index.ts';
import type { BranchView } from './branch-view.ts';
import type { VersionScores } from './noise-test.ts';
import type { MeasuredRun } from './trial-outcome.ts';

export type Operator =
  | 'starter'
  | 'portfolio'
  | 'draft'
  | 'improve'
  | 'debug'
  | 'merge'
  | 'model'
  | 'rewrite'
  | 'tune'
  | 'ensemble';

/** A version that was measured. */
export interface Measured extends MeasuredRun {
  /** Its scores, perhaps corrected. */
  evidence: VersionScores;
  /** The script; null if that is unknown. */
  source: string | null;
}

export interface Attempt {
  readonly id: number;
  readonly operator: Operator;
  readonly parent: Attempt | null;
  readonly other: Attempt | null;
  readonly children: Attempt[];
  /** The number of consecutive failures that end with this attempt. */
  depthOfFailure: number;
  status: SearchNode['status'];
  /** Whether it was better than the best at its time. */
  hasGained: boolean;
  view: BranchView | null;
  measured: Measured | null;
  change: string;
  /** Why it was chosen; later how it ended. */
  why: string;
  /** The last output of its script, for a repair. */
  output: string;
  cost: number;
}

/** All attempts, and the best of them. */
export class SearchTree {
  readonly attempts: Attempt[] = [];
  readonly #environment: Environment;
  #best: Attempt | null = null;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  get best(): Attempt | null {
    return this.#best;
  }

  /** Makes an attempt the best one, and selects its branch immediately, because a limit may end the run at any time. */
  take(attempt: Attempt): void {
    this.#best = attempt;
    if (attempt.view !== null) this.#environment.select(attempt.view.branch);
  }

  /** The attempts that may be submitted. */
  get measured(): Attempt[] {
    return this.attempts.filter(({ measured }) => measured !== null);
  }

  /** Seconds of a run of the starter or of the best version, whichever takes longer. */
  get slowest(): number {
    const seconds = [this.attempts[0], this.best].map((one) => one?.measured?.seconds ?? 0);
    return Math.max(...seconds);
  }

  begin(
    operator: Operator,
    parent: Attempt | null,
    { why, other = null }: { why: string; other?: Attempt | null },
  ): Attempt {
    const attempt: Attempt = {
      ...{ id: this.attempts.length, operator, parent, other, children: [], depthOfFailure: 0 },
      ...{ status: 'pending', hasGained: false, view: null, measured: null },
      ...{ change: '', why, output: '', cost: 0 },
    };
    this.attempts.push(attempt);
    parent?.children.push(attempt);
    return attempt;
  }

  finish(attempt: Attempt, status: Attempt['status'], why: string): void {
    attempt.status = status;
    attempt.why = why;
    attempt.depthOfFailure = status === 'failed' ? (attempt.parent?.depthOfFailure ?? 0) + 1 : 0;
  }

  /** Records the state of an attempt in the trace; long texts are shortened. */
  record(attempt: Attempt): void {
    const { id, parent, other, operator, view, status, change, why, measured, cost } = attempt;
    const node: SearchNode = {
      ...{ id, parent: parent?.id ?? null, other: other?.id ?? null, operator, branch: view?.id ?? null },
      ...{ status, change: plainLine(change, 400), why: plainLine(why, 400) },
      ...{ score: measured?.evidence.first ?? null, seconds: measured?.seconds ?? null },
      ...{ cost: Number(cost.toFixed(4)), is_best: this.#best === attempt },
    };
    this.#environment.note({ [searchNodeEntry]: JSON.stringify(SearchNode.parse(node)) });
  }
}

/** The attempt and its ancestors, from the attempt to the root. */
export function lineage(attempt: Attempt): Attempt[] {
  const found: Attempt[] = [];
  for (let one: Attempt | null = attempt; one !== null; one = one.parent) found.push(one);
  return found;
}

/** The nearest ancestor that was measured. */
export function measuredBase(attempt: Attempt): Attempt | undefined {
  return lineage(attempt).find((one) => one !== attempt && one.measured !== null);
}
