import { isDeepStrictEqual } from 'node:util';
import type { BranchId, TextRef, TraceEvent, TraceEventOf } from '../schema/index.ts';

/** An action as the trace has it. */
export interface TracedAction {
  action: string;
  args: TextRef;
}

/** Which action a step performed: the agent's, unless the run's gate replaced it. */
export interface PerformedAction {
  performed: TracedAction;
  /** What the agent wrote, if something else was performed; else null. */
  proposed: TracedAction | null;
}

/**
 * Follows the decisions of a run's gate. They are about proposed actions: what a program asks a permission for is no
 * step, and is never performed in another form.
 */
export class PerformedActions {
  readonly #proposed = new Map<BranchId, TraceEventOf<'action_proposed'>>();
  readonly #decided = new Map<BranchId, TraceEventOf<'action_decided'>>();

  read(event: TraceEvent): void {
    if (event.kind === 'action_proposed') this.#proposed.set(event.branch ?? 'main', event);
    if (event.kind === 'action_decided') this.#decided.set(event.branch ?? 'main', event);
  }

  /** Call it when the step starts. */
  of({ branch = 'main', step, actor, action, args }: TraceEventOf<'step_started'>): PerformedAction {
    const written = { action, args };
    const proposed = this.#proposed.get(branch);
    const decided = this.#decided.get(branch);
    const isDecided = actor === undefined && decided?.step === step;
    // The events of one step alone may lack the proposal, which came before the steps of a person who took over.
    const isProposed =
      proposed === undefined || (proposed.action === action && isDeepStrictEqual(proposed.args, args));
    const replacement = isDecided && isProposed ? decided.replacement : undefined;
    return replacement === undefined
      ? { performed: written, proposed: null }
      : { performed: replacement, proposed: written };
  }
}
