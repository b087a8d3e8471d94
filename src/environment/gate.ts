import type { Action, BranchId } from '../schema/index.ts';
import type { StepResult } from './environment.ts';

/** An action that an agent wants performed; it is valid. */
export interface ProposedAction extends Action {
  branch: BranchId;
  /** The number that the step will have. */
  step: number;
  /**
   * A program asks for a permission, in its own words: it is told of an action in the place of its own, and nobody can take
   * over.
   */
  isPermission?: true;
}

/** What becomes of a proposed action. `actor` says who decided: a person's name, or a policy's. */
export type GateDecision = { actor: string; reason?: string } & (
  | { kind: 'allow' }
  | { kind: 'deny'; reason: string }
  /** Another action is performed in its place. */
  | { kind: 'replace'; action: Action }
  /**
   * The actor's own actions follow, each told what came of the one before; null hands back to the agent, whose action
   * is not performed.
   */
  | { kind: 'take_over'; next: (last: StepResult | null, signal: AbortSignal) => Promise<Action | null> }
);

/** Decides on every valid action before it is performed. The run's clock stands still meanwhile. */
export type Gate = (proposed: ProposedAction, signal: AbortSignal) => GateDecision | Promise<GateDecision>;
