import type {
  Action,
  ActionStatus,
  BranchId,
  BranchOrigin,
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

/** One history of a run's workspace. */
export interface Branch {
  /** `main`, or `b1`, `b2` … in the order in which they were asked for. */
  readonly id: BranchId;
  /** The step that it was forked from; null of `main`. */
  readonly origin: BranchOrigin | null;
  /**
   * Acts once. Never throws for what an agent did wrong. Rejects only when the run is stopped from outside. What is asked
   * for at once is done one after another.
   */
  step(action: Action): Promise<StepResult>;
  /**
   * Begins a branch with the workspace as it was after a step of this one: the last by default, 0 for the start. It has
   * files and processes of its own; its steps are numbered from that step on.
   * @throws RangeError for a step that this branch has not, and for the 10,001st fork of a run
   */
  fork(at?: number): Promise<Branch>;
}

/**
 * What an agent can do and know; itself the branch `main`. A run is resumed by running its agent again from the start with
 * the recorded results of the steps it took, so an agent must decide from these alone: the brief, its seed and options, the
 * first budget, the results of its own steps and the replies of its models; never from a clock, a random source or a
 * file of its own. What it asks for at once is done one after another, in the order in which it asked, until it forks: from
 * then on the steps of different branches and its models' calls are done at once, and a resumed run is told of them in the
 * order in which they were done.
 */
export interface Environment extends Branch {
  readonly task: TaskBrief;
  readonly actions: readonly ActionDescription[];
  /** The whole budget, before the first step. Branches share it. */
  readonly budget: Budget;
  /**
   * Asks a language model of the run: `agent`, `editor` or `fast`. The call is metered and recorded, and repeated
   * where the provider fails. Rejects only when the run is stopped from outside, or no model can be reached.
   */
  ask(request: ModelRequest): Promise<ModelReply>;
  /** The workspace of this branch is graded when the run ends; `main` where none is selected. */
  select(branch: Branch): void;
  /** Ends the run as the agent's own failure: there is nothing more that it can do. */
  giveUp(reason: GiveUpReason, message: string): void;
  /** Keeps what the agent thought beside its actions: texts by entry name (Reflection, Plan, Reason, …). */
  note(entries: Record<string, string>): void;
}
