import type { ActionStatus, EndReason, GradedStep, SubmissionState } from '../../schema/index.ts';

/** A run as read from its trace, with all texts inserted. */
export interface RunTranscript {
  /** The agent's problem text. Numbers in it are given, not claimed. */
  problem: string;
  /** The submission's files, relative to the workspace. */
  submissionFiles: readonly string[];
  /** Id of the workspace before the first step; null if it was not recorded. */
  starter: string | null;
  steps: readonly TranscriptStep[];
  /** What programs printed in branches that were not selected. */
  printedElsewhere?: readonly string[];
  /** What the agent wrote besides its actions after the last step. */
  lastEntries: Readonly<Record<string, string>>;
  /** Replies of the agent's model without a usable action. */
  formatErrors: readonly FormatError[];
  /** Null while it has not ended. */
  end: { reason: EndReason; message: string; finalAnswer: string | null } | null;
  grades: readonly GradedStep[];
  /** Whether somebody else denied or replaced an action of the agent, or took a step in its place. */
  isShared?: boolean;
}

export interface TranscriptStep {
  /** 1 for the first. */
  step: number;
  action: string;
  args: Readonly<Record<string, unknown>>;
  status: ActionStatus;
  /** Null if no process was run. */
  exitCode: number | null;
  observation: string;
  /** A language model wrote the observation, or parts of it: a number in it is not a measurement. */
  byModel: boolean;
  /** What the agent wrote besides and before this action, by entry name: plan, reflection, thought. */
  entries: Readonly<Record<string, string>>;
  /** Paths whose content changed, at most 100 of them. */
  changed: readonly string[];
  /** How many paths changed. */
  changedCount: number;
  /** Id of the workspace after the step: equal ids mean equal content. */
  snapshot: string;
  submission: SubmissionState;
  /** Budget time, tokens and money used after the step. Money is null if a price is unknown. */
  used: { seconds: number; tokens: number; money: number | null };
}

export interface FormatError {
  /** The last step that was finished before; 0: none. */
  afterStep: number;
  reply: string;
}
