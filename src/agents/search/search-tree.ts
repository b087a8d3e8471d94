import { plainLine } from '../../lib/plain-line.ts';
import { SearchNode, searchNodeEntry } from '../../schema/index.ts';
import type { BranchView, EntryRun } from './branch-view.ts';
import type { VersionScores } from './noise-test.ts';

export type Operator =
  | 'starter'
  | 'portfolio'
  | 'draft'
  | 'improve'
  | 'debug'
  | 'merge'
  | 'tune'
  | 'ensemble';

/** A version that was measured, and whose submission was accepted. */
export interface Measured {
  evidence: VersionScores;
  /** The line in which it printed its score. */
  line: string;
  run: EntryRun;
  /** The run time of one run. */
  seconds: number;
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
  readonly #note: (entries: Record<string, string>) => void;
  best: Attempt | null = null;

  constructor(note: (entries: Record<string, string>) => void) {
    this.#note = note;
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

  /** Records the state of an attempt in the trace. */
  record(attempt: Attempt): void {
    const { id, parent, other, operator, view, status, change, why, measured, cost } = attempt;
    this.#note(
      nodeNote({
        ...{ id, parent: parent?.id ?? null, other: other?.id ?? null, operator, branch: view?.id ?? null },
        ...{
          status,
          change,
          why,
          score: measured?.evidence.first ?? null,
          seconds: measured?.seconds ?? null,
        },
        ...{ cost, is_best: this.best === attempt },
      }),
    );
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

/** The note that records an attempt in the trace; its texts are shortened. */
export function nodeNote(node: SearchNode): Record<string, string> {
  const [change, why] = [plainLine(node.change, 400), plainLine(node.why, 400)];
  const shown = { ...node, change, why, cost: Number(node.cost.toFixed(4)) };
  return { [searchNodeEntry]: JSON.stringify(SearchNode.parse(shown)) };
}

/** How many attempts there are, and how they ended. */
export function countsOf(attempts: readonly Pick<SearchNode, 'status'>[]): string {
  const of = (wanted: SearchNode['status']) => attempts.filter(({ status }) => status === wanted).length;
  return `${attempts.length}; kept: ${of('kept')}; failed: ${of('failed')}.`;
}
