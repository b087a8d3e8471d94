import { plainLine } from '../../lib/plain-line.ts';
import { SearchNode, searchNodeEntry } from '../../schema/index.ts';
import type { Workspace } from '../common/workspace.ts';
import { usedShare } from './pace.ts';

/** A version that was tried, and what became of it. */
interface Tried {
  source: string;
  /** The version that it was made from; null for the starter. */
  from: string | null;
  operator: 'starter' | 'model' | 'rewrite' | 'tune';
  change: string;
  outcome: { kind: 'measured'; score: number; seconds: number } | { kind: 'failed'; seconds: number };
  isKept: boolean;
  /** In a sentence. */
  why: string;
}

/** Records the versions that were tried as a tree, see `SearchNode`. They are all made on one branch. */
export class Attempts {
  readonly #workspace: Workspace;
  readonly #nodes: SearchNode[] = [];
  readonly #ofSource = new Map<string, SearchNode>();
  #used = 0;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** One that is kept is the best one from now on. Its cost is all that was used since the last one. */
  add({ source, from, operator, change, outcome, isKept, why }: Tried): void {
    const used = usedShare(this.#workspace);
    const parent = from === null ? null : (this.#ofSource.get(from)?.id ?? 0);
    const isMeasured = outcome.kind === 'measured';
    const node: SearchNode = {
      ...{ id: this.#nodes.length, parent, other: null, operator, branch: null },
      status: isKept ? 'kept' : isMeasured ? 'dropped' : 'failed',
      ...{ change: plainLine(change, 400), why: plainLine(why, 400) },
      score: isMeasured ? outcome.score : null,
      ...{
        seconds: outcome.seconds,
        cost: Number(Math.max(0, used - this.#used).toFixed(4)),
        is_best: isKept,
      },
    };
    this.#used = used;
    this.#nodes.push(node);
    this.#ofSource.set(source, node);
    this.#record(node);
  }

  /** Makes an earlier version the best one again. */
  choose(source: string): void {
    const node = this.#ofSource.get(source);
    if (node !== undefined) this.#record({ ...node, is_best: true });
  }

  /** How many versions were tried, and how they ended, without the starter. */
  get inWords(): string {
    const tried = this.#nodes.slice(1);
    const of = (status: SearchNode['status']) => tried.filter((node) => node.status === status).length;
    return `Versions tried: ${tried.length}; kept: ${of('kept')}; failed: ${of('failed')}.`;
  }

  #record(node: SearchNode): void {
    this.#workspace.note({ [searchNodeEntry]: JSON.stringify(SearchNode.parse(node)) });
  }
}
