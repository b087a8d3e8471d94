import type { BranchId, BranchOrigin, TraceEvent } from '../schema/index.ts';

/** One branch of a run's workspace, as recorded. */
export interface RecordedBranch {
  id: BranchId;
  /** Null for `main`. */
  origin: BranchOrigin | null;
  /** Number of its last finished step; that of its origin if it has no steps itself. */
  lastStep: number;
  /** How many finished steps it has itself. */
  steps: number;
}

/** The branches that lead to one, each with the last step that belongs to its history. */
export type Lineage = ReadonlyMap<BranchId, number>;

/** Folds the events of a run into its branches. */
export class BranchReader {
  readonly #branches = new Map<BranchId, RecordedBranch>([
    ['main', { id: 'main', origin: null, lastStep: 0, steps: 0 }],
  ]);
  #selected: BranchId = 'main';

  read(event: TraceEvent): void {
    if (event.kind === 'branch_forked') {
      const { branch: id, origin } = event;
      this.#branches.set(id, { id, origin, lastStep: origin.step, steps: 0 });
    }
    if (event.kind === 'branch_selected') this.#selected = event.branch;
    if (event.kind !== 'step_finished') return;
    const branch = this.#branches.get(event.branch ?? 'main');
    if (branch === undefined) return;
    branch.lastStep = event.step;
    branch.steps += 1;
  }

  /** In the order in which they were made. */
  get branches(): RecordedBranch[] {
    return [...this.#branches.values()];
  }

  /** The branch that is graded. */
  get selected(): BranchId {
    return this.#selected;
  }

  lineage(id: BranchId = this.#selected): Lineage {
    return lineageOf(id, (branch) => this.#branches.get(branch)?.origin ?? null);
  }
}

/** @param originOf null for `main`, and for an unknown branch */
export function lineageOf(id: BranchId, originOf: (id: BranchId) => BranchOrigin | null): Lineage {
  const lineage = new Map<BranchId, number>();
  let last = Number.MAX_SAFE_INTEGER;
  for (let next: BranchId | null = id; next !== null && !lineage.has(next); ) {
    lineage.set(next, last);
    const origin = originOf(next);
    last = Math.min(last, origin?.step ?? 0);
    next = origin?.branch ?? null;
  }
  return lineage;
}

/** The history of a run without other branches. */
export const mainLineage: Lineage = new Map([['main', Number.MAX_SAFE_INTEGER]]);

/** The branches of a run. */
export function branchesOf(events: Iterable<TraceEvent>): BranchReader {
  const reader = new BranchReader();
  for (const event of events) reader.read(event);
  return reader;
}

/** Whether an event belongs to a history: steps of other branches do not, events of the whole run do. */
export function isInLineage(event: TraceEvent, lineage: Lineage): boolean {
  switch (event.kind) {
    case 'action_proposed':
    case 'action_decided':
    case 'step_started':
    case 'step_finished':
    case 'output':
      return event.step <= (lineage.get(event.branch ?? 'main') ?? 0);
    case 'model_call':
      return event.step === null || event.step <= (lineage.get(event.branch ?? 'main') ?? 0);
    default:
      return true;
  }
}

/**
 * The events of one history of a run, as if there were no other: steps are numbered from 1 without gaps. For the
 * resources used, see `spentOf` and `sessionsOf`, which need all events.
 * @param branch default: the selected one
 */
export function historyOf(events: readonly TraceEvent[], branch?: BranchId): TraceEvent[] {
  const lineage = branchesOf(events).lineage(branch);
  return events.filter((event) => isInLineage(event, lineage));
}

/** Folds a trace; learns of each event whether it belongs to the history to read. */
export interface HistoryFold {
  read(event: TraceEvent, isInHistory: boolean): void;
}

/**
 * Folds a trace in the memory of one event, separating the history of one branch from the others. If that is not `main`,
 * the trace is read a second time with a new fold.
 * @param branch default: the selected one
 */
export function foldHistory<Fold extends HistoryFold>(
  read: () => Iterable<TraceEvent>,
  begin: () => Fold,
  branch?: BranchId,
): { fold: Fold; branches: BranchReader } {
  const branches = new BranchReader();
  const fold = begin();
  for (const event of read()) {
    branches.read(event);
    fold.read(event, isInLineage(event, mainLineage));
  }
  if ((branch ?? branches.selected) === 'main') return { fold, branches };
  const again = begin();
  const lineage = branches.lineage(branch);
  for (const event of read()) again.read(event, isInLineage(event, lineage));
  return { fold: again, branches };
}
