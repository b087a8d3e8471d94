import type { ActionStatus, EndReason, GradedStep, SubmissionState } from '../../schema/index.ts';

/** A run as it can be read from its trace: every text at hand, nothing judged yet. */
export interface RunTranscript {
  /** What the agent was told to do. Numbers in it are given, not claimed. */
  problem: string;
  /** The submission's files, relative to the workspace. */
  submissionFiles: readonly string[];
  /** Name of the workspace before the first step; null where it was not recorded. */
  starter: string | null;
  steps: readonly TranscriptStep[];
  /** What the agent wrote beside its actions after the last step. */
  lastEntries: Readonly<Record<string, string>>;
  /** Replies that the agent's model gave and that held no action that could be taken. */
  formatErrors: readonly FormatError[];
  /** Null while it has not ended. */
  end: { reason: EndReason; message: string; finalAnswer: string | null } | null;
  grades: readonly GradedStep[];
}

export interface TranscriptStep {
  /** 1 for the first. */
  step: number;
  action: string;
  args: Readonly<Record<string, unknown>>;
  status: ActionStatus;
  /** Null where no process was run. */
  exitCode: number | null;
  observation: string;
  /** A language model wrote the observation, or parts of it: a number in it is no measurement. */
  byModel: boolean;
  /** What the agent wrote beside this action and before it, by entry name: plan, reflection, thought. */
  entries: Readonly<Record<string, string>>;
  /** Paths whose content changed, at most 100 of them. */
  changed: readonly string[];
  /** How many paths changed. */
  changedCount: number;
  /** Name of the workspace after the step: equal names, equal content. */
  snapshot: string;
  submission: SubmissionState;
  /** Budget time, tokens and money used after the step. Money is null where a price is not known. */
  used: { seconds: number; tokens: number; money: number | null };
}

export interface FormatError {
  /** The last step that was finished before; 0: none was. */
  afterStep: number;
  reply: string;
}
