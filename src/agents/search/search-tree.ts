import { plainLine } from '../../lib/plain-line.ts';
import { SearchNode, searchNodeEntry } from '../../schema/index.ts';
import type { BranchView, EntryRun } from './branch-view.ts';
import type { Evidence } from './judge.ts';

export type Operator = 'starter' | 'portfolio' | 'draft' | 'improve' | 'debug' | 'merge' | 'tune';

/** A version that was measured, and whose submission was accepted. */
export interface Measured {
  evidence: Evidence;
  /** The line that it printed its score in. */
  line: string;
  run: EntryRun;
  /** Of one run. */
  seconds: number;
}

export interface Attempt {
  readonly id: number;
  readonly operator: Operator;
  readonly parent: Attempt | null;
  readonly other: Attempt | null;
  readonly children: Attempt[];
  /** How many failures in a row lie above it, itself included. */
  depthOfFailure: number;
  status: SearchNode['status'];
  view: BranchView | null;
  measured: Measured | null;
  change: string;
  /** Why it was chosen; then how it ended. */
  why: string;
  /** For whoever repairs it: what its script printed last. */
  output: string;
  cost: number;
}

/** All attempts, and the best of them. */
export class SearchTree {
  readonly attempts: Attempt[] = [];
  readonly #note: (entries: Record<string, string>) => void;
  #best: Attempt | null = null;

  constructor(note: (entries: Record<string, string>) => void) {
    this.#note = note;
  }

  get best(): Attempt | null {
    return this.#best;
  }

  /** Those that may be handed in. */
  get measured(): Attempt[] {
    return this.attempts.filter(({ measured }) => measured !== null);
  }

  begin(
    operator: Operator,
    parent: Attempt | null,
    { why, other = null }: { why: string; other?: Attempt | null },
  ): Attempt {
    const attempt: Attempt = {
      ...{ id: this.attempts.length, operator, parent, other, children: [], depthOfFailure: 0 },
      ...{ status: 'pending', view: null, measured: null, change: '', why, output: '', cost: 0 },
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

  /** Takes it as the best; null: nothing is. */
  choose(attempt: Attempt | null): void {
    this.#best = attempt;
  }

  /** Notes in the trace how an attempt stands now. */
  record(attempt: Attempt): void {
    const { id, parent, other, operator, view, status, change, why, measured, cost } = attempt;
    const node: SearchNode = {
      ...{ id, parent: parent?.id ?? null, other: other?.id ?? null, operator, branch: view?.id ?? null },
      ...{ status, change: plainLine(change, 400), why: plainLine(why, 400) },
      score: measured?.evidence.first ?? null,
      seconds: measured?.seconds ?? null,
      cost: Number(cost.toFixed(4)),
      is_best: this.#best === attempt,
    };
    this.#note({ [searchNodeEntry]: JSON.stringify(SearchNode.parse(node)) });
  }
}

/** Its ancestors, itself first. */
export function lineage(attempt: Attempt): Attempt[] {
  const found: Attempt[] = [];
  for (let one: Attempt | null = attempt; one !== null; one = one.parent) found.push(one);
  return found;
}
