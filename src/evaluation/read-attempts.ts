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
  #step = 0;
  #best: number | null = null;

  constructor(text: (ref: TextRef) => string) {
    this.#text = text;
  }

  read(event: TraceEvent, isInHistory: boolean): void {
    if (event.kind === 'step_finished' && isInHistory) this.#step = event.step;
    const ref = event.kind === 'note' ? event.entries[searchNodeEntry] : undefined;
    const node = ref === undefined ? null : parsedAs(SearchNode, this.#text(ref));
    if (node === null || (this.#attempts.size >= mostAttempts && !this.#attempts.has(node.id))) return;
    const step = node.branch === null ? this.#step : null;
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
