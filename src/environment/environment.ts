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

/** One argument of an action, as agents see it. */
export interface ArgumentDescription {
  name: string;
  description: string;
  /** Whether it may be left out. */
  optional?: boolean;
}

/** An action as agents see it. */
export interface ActionDescription {
  name: string;
  description: string;
  arguments: ArgumentDescription[];
  /** The arguments as a JSON schema, for tool calling. */
  input_schema: ModelTool['input_schema'];
}

/** A model's answer; `closed` if the run ended before it came. */
export type ModelReply = ModelAnswer | { kind: 'closed'; message: string };

/** What an agent learns about the submission in its workspace. */
export type SubmissionSeen = Pick<SubmissionState, 'present' | 'written_at_step' | 'stale'>;

/** The result of one action. */
export interface StepResult {
  step: number;
  status: ActionStatus;
  observation: string;
  /** Of the script or command that the action ran; null if it ran none or a signal ended it. */
  exitCode: number | null;
  durationMs: number;
  /** The budget after this step. */
  budget: Budget;
  submission: SubmissionSeen;
  /** The run is over: every further action gets this answer. */
  ended: boolean;
}

/** Why an agent can't continue. */
export type GiveUpReason = Extract<EndReason, 'context_limit' | 'reply_format' | 'refused'>;

/** One history of a run's workspace. */
export interface Branch {
  /** `main`, or `b1`, `b2` … in the order in which the agent forked them. */
  readonly id: BranchId;
  /** The step that it was forked from; null for `main`. */
  readonly origin: BranchOrigin | null;
  /**
   * Takes one step. Never throws for a mistake of the agent. Rejects only if the run is stopped from outside. Steps
   * requested at once are taken one after another.
   */
  step(action: Action): Promise<StepResult>;
  /**
   * Begins a branch with the workspace after a step of this one: by default the last, 0 for the start. The branch has
   * its own files and processes; its steps are numbered from that step on.
   * @throws RangeError for a step that this branch does not have, and for the 10,001st fork of a run
   */
  fork(at?: number): Promise<Branch>;
}

/**
 * What an agent can do and know; it is also the branch `main`. A run is resumed by running its agent again from the
 * start with the recorded results of its steps. So an agent must decide from these alone: the brief, its seed and
 * options, the first budget, the results of its own steps and the replies of its models; never from a clock, a random
 * source or a file. Requests made at once are served one after another, in the order in which they were made, until the
 * agent forks. From then on, steps of different branches and model calls run concurrently, and a resumed run delivers
 * their results in the recorded order.
 */
export interface Environment extends Branch {
  readonly task: TaskBrief;
  readonly actions: readonly ActionDescription[];
  /** The whole budget, before the first step. Branches share it. */
  readonly budget: Budget;
  /**
   * Calls a language model of the run: `agent`, `editor` or `fast`. The call is metered and recorded, and retried if
   * the provider fails. Rejects only if the run is stopped from outside, or no model can be reached.
   */
  ask(request: ModelRequest): Promise<ModelReply>;
  /** Selects the branch whose workspace is graded when the run ends; `main` by default. */
  select(branch: Branch): void;
  /** Ends the run as the agent's own failure: it can't do anything more. */
  giveUp(reason: GiveUpReason, message: string): void;
  /** Records the agent's thoughts besides its actions: texts by entry name (Reflection, Plan, Reason, …). */
  note(entries: Record<string, string>): void;
}
