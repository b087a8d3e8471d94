import type { SearchNode } from '../../schema/index.ts';
import type { Workspace } from '../common/workspace.ts';
import { countsOf, nodeNote } from '../search/search-tree.ts';
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
    const score = outcome.kind === 'measured' ? outcome.score : null;
    const status = isKept ? 'kept' : score === null ? 'failed' : 'dropped';
    const { seconds } = outcome;
    const node: SearchNode = {
      ...{ id: this.#nodes.length, parent, other: null, operator, branch: null, status, change, why },
      ...{ score, seconds, cost: Math.max(0, used - this.#used), is_best: isKept },
    };
    this.#used = used;
    this.#nodes.push(node);
    this.#ofSource.set(source, node);
    this.#workspace.note(nodeNote(node));
  }

  /** Makes an earlier version the best one again. */
  choose(source: string): void {
    const node = this.#ofSource.get(source);
    if (node !== undefined) this.#workspace.note(nodeNote({ ...node, is_best: true }));
  }

  /** How many versions were tried, and how they ended, without the starter. */
  get inWords(): string {
    return `Versions tried: ${countsOf(this.#nodes.slice(1))}`;
  }
}
