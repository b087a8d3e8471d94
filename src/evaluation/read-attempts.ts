import { parsedAs } from '../lib/json-values.ts';
import {
  type SearchAttempt,
  SearchNode,
  searchNodeEntry,
  type TextRef,
  type TraceEvent,
} from '../schema/index.ts';

/** Agents write the notes: more than so many attempts are not read. */
const mostAttempts = 2_000;

/** The attempts of an agent that searches, from its notes. */
export class AttemptReader {
  readonly #text: (ref: TextRef) => string;
  readonly #attempts = new Map<number, SearchAttempt>();
  /** The branches that have steps of their own so far. */
  readonly #walked = new Set<string>();
  /** The last step; null if it is not one of the history. */
  #step: number | null = 0;
  #best: number | null = null;

  constructor(text: (ref: TextRef) => string) {
    this.#text = text;
  }

  read(event: TraceEvent, isInHistory: boolean): void {
    if (event.kind === 'step_finished') {
      this.#step = isInHistory ? event.step : null;
      this.#walked.add(event.branch ?? 'main');
    }
    const ref = event.kind === 'note' ? event.entries[searchNodeEntry] : undefined;
    const node = ref === undefined ? null : parsedAs(SearchNode, this.#text(ref));
    if (node === null || (this.#attempts.size >= mostAttempts && !this.#attempts.has(node.id))) return;
    // A branch without steps was forked from the last one of the attempt.
    const step = node.branch !== null && this.#walked.has(node.branch) ? null : this.#step;
    // Of what was recorded several times, such as when another one became the best, the steps are those of the first.
    const before = this.#attempts.get(node.id);
    const isOver = before !== undefined && before.status !== 'pending';
    this.#attempts.set(node.id, { ...node, step: isOver ? before.step : step, is_final: false });
    if (node.is_best) this.#best = node.id;
  }

  get attempts(): SearchAttempt[] {
    const sorted = [...this.#attempts.values()].sort((one, other) => one.id - other.id);
    return sorted.map((attempt) => ({ ...attempt, is_final: attempt.id === this.#best }));
  }
}
