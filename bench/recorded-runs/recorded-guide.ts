import type { Action, ModelRequest } from '../../src/schema/index.ts';
import {
  logAction,
  type RecordedAction,
  type RecordedRun,
  type RecordedTurn,
  recallAction,
} from './recorded-run.ts';

/** What the agent did in one turn. */
export interface TakenTurn {
  steps: Action[];
  /** Replies of its model that it requested. */
  replies: number;
}

/** Follows a recorded run in step with an agent, turn by turn, and returns what happened there. */
export class RecordedGuide {
  readonly turns: TakenTurn[] = [{ steps: [], replies: 0 }];
  readonly #run: RecordedRun;
  /** How many of a list's replies were used. */
  readonly #used = new Map<readonly string[], number>();

  constructor(run: RecordedRun) {
    this.#run = run;
  }

  /** Whether the agent is beyond the last recorded turn. */
  get isOver(): boolean {
    return this.#recorded === undefined;
  }

  /** The reply of the agent's own models; null if the original did not call them again. */
  reply({ role, purpose }: Pick<ModelRequest, 'role' | 'purpose'>): string | null {
    const turn = this.#recorded;
    if (turn === undefined) return null;
    if (role === 'agent') return turn.replies[this.#taken.replies++] ?? null;
    const summaries = purpose === 'summarise a step' ? turn.stepSummaries : turn.observationSummaries;
    const used = this.#used.get(summaries) ?? 0;
    this.#used.set(summaries, used + 1);
    return summaries[used] ?? '';
  }

  /** Records what the agent does; returns what the original did at that point of the turn. */
  take(action: Action): RecordedAction | undefined {
    this.#taken.steps.push(action);
    const steps = this.#recorded?.steps ?? [];
    const ofSameName = (step: RecordedAction) => step.action.name === action.name;
    // The agent's lookup in its log comes first and its entry last, whatever its model does in between.
    const recorded = action.name === recallAction ? steps.find(ofSameName) : steps.findLast(ofSameName);
    if (action.name === logAction && recorded !== undefined) this.turns.push({ steps: [], replies: 0 });
    return recorded;
  }

  get #recorded(): RecordedTurn | undefined {
    return this.#run.turns[this.turns.length - 1];
  }

  get #taken(): TakenTurn {
    const turn = this.turns.at(-1);
    if (turn === undefined) throw new Error('there is always a turn');
    return turn;
  }
}
