import type {
  Action,
  ActionStatus,
  Budget,
  EndReason,
  ModelAnswer,
  ModelRequest,
  ModelTool,
  SubmissionState,
  TaskBrief,
} from '../schema/index.ts';

/** One argument of an action, as an agent is told of it. */
export interface ArgumentDescription {
  name: string;
  description: string;
  /** It may be left out. */
  optional?: boolean;
}

/** An action as an agent is told of it. */
export interface ActionDescription {
  name: string;
  description: string;
  arguments: ArgumentDescription[];
  /** The arguments as a JSON schema, for tool calling. */
  input_schema: ModelTool['input_schema'];
}

/** What a model answered; `closed` when the run had ended before it could. */
export type ModelReply = ModelAnswer | { kind: 'closed'; message: string };

/** What an agent is told of the submission as it lies in the workspace. */
export type SubmissionSeen = Pick<SubmissionState, 'present' | 'written_at_step' | 'stale'>;

/** What came of one action. */
export interface StepResult {
  step: number;
  status: ActionStatus;
  observation: string;
  /** Of the script or command that the action ran; null where it ran none or a signal ended it. */
  exitCode: number | null;
  durationMs: number;
  /** What is left after this step. */
  budget: Budget;
  submission: SubmissionSeen;
  /** The run is over: every further action answers so. */
  ended: boolean;
}

/** Why an agent can't go on. */
export type GiveUpReason = Extract<EndReason, 'context_limit' | 'reply_format' | 'refused'>;

/**
 * What an agent can do and know. A run is resumed by running its agent again from the start with the recorded
 * results of the steps it took, so an agent must decide from these alone: the brief, its seed and options, the
 * first budget, the results of its own steps and the replies of its models; never from a clock, a random source or a
 * file of its own. What it asks for at once is done one after another, in the order in which it asked.
 */
export interface Environment {
  readonly task: TaskBrief;
  readonly actions: readonly ActionDescription[];
  /** The whole budget, before the first step. */
  readonly budget: Budget;
  /** Acts once. Never throws for what an agent did wrong. Rejects only when the run is stopped from outside. */
  step(action: Action): Promise<StepResult>;
  /**
   * Asks a language model of the run: `agent`, `editor` or `fast`. The call is metered and recorded, and repeated
   * where the provider fails. Rejects only when the run is stopped from outside, or no model can be reached.
   */
  ask(request: ModelRequest): Promise<ModelReply>;
  /** Ends the run as the agent's own failure: there is nothing more that it can do. */
  giveUp(reason: GiveUpReason, message: string): void;
  /** Keeps what the agent thought beside its actions: texts by entry name (Reflection, Plan, Reason, …). */
  note(entries: Record<string, string>): void;
}
