import type { Action, BranchId } from '../schema/index.ts';
import type { StepResult } from './environment.ts';

/** A valid action that an agent wants performed. */
export interface ProposedAction extends Action {
  branch: BranchId;
  /** The number that the step will have. */
  step: number;
  /**
   * A program asks for permission for an action of its own. A replacement is only described to it, never performed, and
   * nobody can take over.
   */
  isPermission?: true;
  /** Why another action can't be performed in its place; null if it can. */
  obstacleTo?: (instead: Action) => string | null;
}

/** The decision on a proposed action. `actor` is who decided: the name of a person or of a policy. */
export type GateDecision = { actor: string; reason?: string } & (
  | { kind: 'allow' }
  | { kind: 'deny'; reason: string }
  /** Another action is performed instead. */
  | { kind: 'replace'; action: Action }
  /**
   * The actor's own actions follow, each after the result of the one before; null hands back to the agent, whose action
   * is not performed.
   */
  | { kind: 'take_over'; next: (last: StepResult | null, signal: AbortSignal) => Promise<Action | null> }
);

/** Decides on every valid action before it is performed. The run's clock stops meanwhile. */
export type Gate = (proposed: ProposedAction, signal: AbortSignal) => GateDecision | Promise<GateDecision>;
