import type { BranchId, BranchOrigin, ObjectId } from '../schema/index.ts';
import { type Lineage, lineageOf } from '../store/index.ts';
import type { RecordedRun, RecordedStep } from './recorded-run.ts';

/** The facts about a finished step that later steps need. */
export type StepFacts = Pick<RecordedStep, 'step' | 'action' | 'snapshot' | 'submission' | 'undo' | 'undone'>;

/** The finished steps of one branch: those of its origin up to the fork, and its own. */
export class BranchHistory {
  readonly id: BranchId;
  readonly origin: BranchOrigin | null;
  readonly #parent: BranchHistory | null;
  readonly #start: ObjectId | null;
  readonly #own: StepFacts[] = [];

  constructor(
    id: BranchId,
    origin: BranchOrigin | null,
    parent: BranchHistory | null,
    start: ObjectId | null,
  ) {
    this.id = id;
    this.origin = origin;
    this.#parent = parent;
    this.#start = start;
  }

  get lastStep(): number {
    return this.#own.at(-1)?.step ?? this.origin?.step ?? 0;
  }

  add(facts: StepFacts): void {
    this.#own.push(facts);
  }

  /** In order, up to a step. */
  steps(last = Number.POSITIVE_INFINITY): StepFacts[] {
    const parts: StepFacts[][] = [];
    for (const { history, until } of this.#withAncestors(last))
      parts.push(history.#own.filter(({ step }) => step <= until));
    return parts.reverse().flat();
  }

  /** The workspace after a step, 0 for the start; by default after the last one. */
  snapshotAt(step = this.lastStep): ObjectId {
    for (const { history, until } of this.#withAncestors(step)) {
      const own = history.#own.findLast((one) => one.step <= until);
      if (own !== undefined) return own.snapshot;
    }
    if (this.#start === null) throw new Error('the trace has no snapshot before the first step');
    return this.#start;
  }

  /**
   * The branch itself, then its origin, and so on, each up to a step. Not recursive, because agents decide how deep it
   * gets.
   */
  *#withAncestors(last: number): Generator<{ history: BranchHistory; until: number }> {
    let until = last;
    for (let history: BranchHistory | null = this; history !== null; history = history.#parent) {
      yield { history, until };
      until = Math.min(until, history.origin?.step ?? 0);
    }
  }
}

/** The histories of all branches of a run. */
export class BranchHistories {
  readonly #byId = new Map<BranchId, BranchHistory>();
  readonly #start: ObjectId | null;

  constructor(recorded: RecordedRun) {
    this.#start = recorded.start;
    this.#byId.set('main', new BranchHistory('main', null, null, recorded.start));
    for (const { branch, origin } of recorded.forks) this.fork(branch, origin);
    for (const step of recorded.steps) this.of(step.branch).add(step);
  }

  get ids(): BranchId[] {
    return [...this.#byId.keys()];
  }

  of(id: BranchId): BranchHistory {
    const history = this.#byId.get(id);
    if (history === undefined) throw new Error(`the run has no branch ${id}`);
    return history;
  }

  fork(id: BranchId, origin: BranchOrigin): BranchHistory {
    const history = new BranchHistory(id, origin, this.of(origin.branch), this.#start);
    this.#byId.set(id, history);
    return history;
  }

  lineage(id: BranchId): Lineage {
    return lineageOf(id, (branch) => this.#byId.get(branch)?.origin ?? null);
  }
}
