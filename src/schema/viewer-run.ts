import { z } from 'zod';
import { ActionStatus } from './action.ts';
import { AgentClaims } from './agent-claims.ts';
import { GradedStep, RunEvaluation } from './evaluation.ts';
import { BranchOrigin, EndReason, GateVerdict, SubmissionState } from './event.ts';
import { Lesson } from './experience.ts';
import { SubmissionProblem } from './grade.ts';
import { BranchId, ObjectId, RunId, TaskId } from './ids.ts';
import { Budget, Limits } from './limits.ts';
import { CallFailure, FailedAttempt, ModelRole, ModelRoles, TokenUsage } from './model.ts';
import { ModelRatings } from './rubric.ts';
import { AgentOptions, RunStatus, SandboxDriver, Spent } from './run.ts';
import { Verification } from './verification.ts';

/*
 * Replies of the viewer's server about one run. All are below /api/experiments/:experiment/runs/:run; in an export the
 * same addresses are files with the suffix `.json`. Times are milliseconds since 1970.
 */

const count = z.int().min(0);

/** A text as the viewer shows it: in full, or its beginning. */
export const ShownText = z.object({
  text: z.string(),
  /** Length of the full text, in JavaScript's units. If `text` is shorter, it was cut. */
  length: count,
  /** If it was cut: the `part` for `…/steps/:step/text?part=`. Null if the rest is not available (in an export). */
  part: z.string().nullable(),
  /** Why it can't be read: its object is missing or damaged. */
  unreadable: z.string().optional(),
});
export type ShownText = z.infer<typeof ShownText>;

/**
 * `…/steps/:step/text?part=…&from=…`: more of a text, up to 1,000,000 at a time. `…/raw?part=…`: the full text, to
 * download.
 */
export const TextRest = z.object({ part: z.string(), from: count, text: z.string(), length: count });
export type TextRest = z.infer<typeof TextRest>;

/** A run that is forked from another one, or from which others are forked. `experiment`: null if that is not shown. */
export const RelatedRun = z.object({
  experiment: z.string().nullable(),
  name: z.string(),
  run: RunId,
  step: count,
});
export type RelatedRun = z.infer<typeof RelatedRun>;

/** `…/runs/:run`: everything but its steps. */
export const RunPage = z.object({
  /** The experiment's id in addresses. */
  experiment: z.string(),
  run: RunId,
  task: TaskId,
  /** With model and options, as in reports. */
  agent: z.string(),
  agent_name: z.string(),
  agent_options: AgentOptions,
  model: z.string().nullable(),
  roles: ModelRoles.nullable(),
  /** Null, like limits, sandbox and GPU, if not recorded: in imported runs. */
  seed: count.nullable(),
  marks: z.array(z.string()),
  lessons: z.array(Lesson),
  limits: Limits.nullable(),
  sandbox: SandboxDriver.nullable(),
  /** How its limits were enforced, in words; null if that was not recorded. */
  limits_held: z.string().nullable(),
  gpu: z.boolean().nullable(),
  versions: z.record(z.string(), z.string()),
  status: RunStatus,
  /** Where it is queued or running; empty where that is not known. */
  where: z.string(),
  /** The actions that wait for a person's decision. */
  waits_for: z.array(z.object({ branch: BranchId, step: count, action: z.string() })),
  end: z.object({ reason: EndReason, cause: z.string().nullable(), message: z.string() }).nullable(),
  /** Null while it has not begun. */
  started: z.int().nullable(),
  updated: z.int().nullable(),
  seconds_used: z.number().min(0),
  spent: Spent.nullable(),
  parent: RelatedRun.nullable(),
  forks: z.array(RelatedRun),
  /**
   * The branches that people began from it or from its branches, each with its own page. `steps`: of the branch itself.
   */
  begun: z.array(
    z.object({
      run: RunId,
      actor: z.string(),
      origin: z.object({ run: RunId, step: count }),
      steps: count,
      status: RunStatus,
      end: EndReason.nullable(),
      /** Hidden score of its final submission; null if that is not valid, or not graded. */
      score: z.number().nullable(),
    }),
  ),
  /** Its branches, `main` first; one of them is graded, and the timeline shows its steps. */
  branches: z.array(
    z.object({ id: BranchId, origin: BranchOrigin.nullable(), steps: count, selected: z.boolean() }),
  ),
  /** Steps of its timeline: those that ended, and one that is running or was cut off. */
  steps: count,
  /** Something was noted, asked or answered after the last step: it is step `steps + 1`, without an action. */
  has_tail: z.boolean(),
  sessions: count,
  /** The agent's problem text; null while nothing is recorded. */
  problem: ShownText.nullable(),
  entry: z.string().nullable(),
  submission_files: z.array(z.string()),
  final_answer: ShownText.nullable(),
  /** If its agent is a program, what the program reports about itself. */
  claimed: AgentClaims.nullable(),
  /**
   * Its evaluation, as in reports. Null: not known yet (`pending`: it is being made, and a live event will follow), or
   * see `unreadable`.
   */
  evaluation: RunEvaluation.nullable(),
  pending: z.boolean(),
  /** Why its files can't be read properly. */
  unreadable: z.string().nullable(),
  verification: Verification.nullable(),
  /** From `mlab judge`, by model. */
  ratings: z.array(ModelRatings),
  /** Bytes of an unfinished last line; 0 for an intact trace. */
  torn_bytes: count,
});
export type RunPage = z.infer<typeof RunPage>;

/** `running`: now. `cut_off`: its run ended or died meanwhile. */
export const StepStatus = z.enum([...ActionStatus.options, 'running', 'cut_off']);
export type StepStatus = z.infer<typeof StepStatus>;

export const WarningKind = z.enum([
  'ungrounded_number',
  'repeated_action',
  'stale_submission',
  'format_error',
  /** An integrity flag of weight `attempt`: tried, and stopped. */
  'blocked_attempt',
  /** An integrity flag of weight `doubt`. */
  'doubt',
  /** Evidence of one of the kinds of failure, such as `hallucination`. */
  'failure',
]);
export type WarningKind = z.infer<typeof WarningKind>;

export const StepWarning = z.object({ step: count, kind: WarningKind, text: z.string() });
export type StepWarning = z.infer<typeof StepWarning>;

/**
 * The agent's own validation metric after a step: as the script printed it, and with its sign changed if needed so that
 * higher is better.
 */
export const StepReading = z.object({
  step: z.int().min(1),
  /** Such as `validation loss`. */
  metric: z.string(),
  printed: z.number(),
  value: z.number(),
});
export type StepReading = z.infer<typeof StepReading>;

/** A step in one line: `train.py: LEARNING_RATE 0.002→0.02`. The name of its action is not included. */
export const StepSummary = z.object({ step: z.int().min(1), text: z.string() });
export type StepSummary = z.infer<typeof StepSummary>;

/**
 * `…/timeline?from=…&to=…`: the timeline, as columns; the n-th value of each is of step `from + n`. Without a range: all
 * steps.
 */
export const Timeline = z.object({
  /** Current number of the run's steps. */
  total: count,
  has_tail: z.boolean(),
  /** From 1. */
  from: z.int().min(1),
  /** Names to which `action` and `status` are indices. */
  actions: z.array(z.string()),
  statuses: z.array(StepStatus),
  action: z.array(count),
  status: z.array(count),
  started: z.array(z.int()),
  duration_ms: z.array(z.number()),
  /** Of the budget, after the step. */
  seconds_used: z.array(z.number()),
  calls: z.array(count),
  tokens: z.array(count),
  changed: z.array(count),
  /** Of the range, once the run is evaluated. `score` is null if the submission was not valid. */
  grades: z.array(GradedStep),
  warnings: z.array(StepWarning),
  readings: z.array(StepReading),
  summaries: z.array(StepSummary),
  /** The evaluation is being made: grades, warnings, readings and summaries may be missing. */
  pending: z.boolean(),
});
export type Timeline = z.infer<typeof Timeline>;

/** What an agent wrote besides its action. */
export const StepEntry = z.object({
  /** Such as `Research Plan and Status`. The same name may come twice in a step. */
  name: z.string(),
  text: ShownText,
  /** The previous entry of this name, for marking changes; null for the first. */
  before: z.object({ step: count, text: ShownText }).nullable(),
});
export type StepEntry = z.infer<typeof StepEntry>;

export const StepArgument = z.object({
  name: z.string(),
  /** A text as it is, other values as JSON. */
  text: ShownText,
  is_text: z.boolean(),
});
export type StepArgument = z.infer<typeof StepArgument>;

export const ShownToolCall = z.object({ name: z.string(), input: ShownText });
export type ShownToolCall = z.infer<typeof ShownToolCall>;

export const ShownMessage = z.object({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  /** For a tool's message. */
  name: z.string().nullable(),
  text: ShownText,
  tool_calls: z.array(ShownToolCall),
});
export type ShownMessage = z.infer<typeof ShownMessage>;

/** A call of a language model. */
export const StepCall = z.object({
  call: z.int().min(1),
  role: ModelRole,
  purpose: z.string(),
  model: z.string(),
  answered_by: z.string().nullable(),
  temperature: z.number().nullable(),
  max_output_tokens: z.int(),
  time: z.int(),
  messages: z.array(ShownMessage),
  /** Names of the tools in the request. */
  tools: z.array(z.string()),
  answer: z
    .object({
      kind: z.enum(['answered', 'refused', 'context_too_long']),
      /** The answer, or why there is none. */
      text: ShownText,
      tool_calls: z.array(ShownToolCall),
      finish: z.string().nullable(),
    })
    .nullable(),
  failure: z.object({ failure: CallFailure, message: z.string() }).nullable(),
  usage: TokenUsage,
  /** In US dollars; null if the price is unknown. */
  cost: z.number().min(0).nullable(),
  latency_ms: z.number().min(0),
  waiting_ms: z.number().min(0),
  attempts: z.array(FailedAttempt),
});
export type StepCall = z.infer<typeof StepCall>;

export const ShownInnerStep = z.object({
  action: z.string(),
  args: ShownText,
  observation: ShownText,
  time: z.int(),
});
export type ShownInnerStep = z.infer<typeof ShownInnerStep>;

/** `…/steps/:step`. Step 0 is the starter; `steps + 1` is what followed the last one, if anything did. */
export const StepPage = z.object({
  step: count,
  total: count,
  /** Null: no action (step 0, and the end of the run). */
  action: z.string().nullable(),
  arguments: z.array(StepArgument),
  status: StepStatus.nullable(),
  /** Who took it in the agent's place; null: the agent. */
  actor: z.string().nullable(),
  /** The decision of the run's gate before it; null if nobody was asked. */
  decision: z
    .object({
      actor: z.string(),
      verdict: GateVerdict,
      reason: z.string().nullable(),
      /** What was performed instead of the agent's action. */
      replacement: z.object({ action: z.string(), arguments: z.array(StepArgument) }).nullable(),
    })
    .nullable(),
  entries: z.array(StepEntry),
  calls: z.array(StepCall),
  inner: z.array(ShownInnerStep),
  /** Null while it is running. */
  observation: ShownText.nullable(),
  /**
   * The end of its scripts' output, in the order printed: only while it is running, or if it was cut off. `from`: the
   * length of the output before, to continue with live events of the kind `output`.
   */
  output: z.object({ from: count, text: z.string() }).nullable(),
  /** A language model wrote the observation, or parts of it. */
  by_model: z.boolean(),
  started: z.int().nullable(),
  duration_ms: z.number().nullable(),
  overhead_ms: z.number().nullable(),
  exit_code: z.int().nullable(),
  cpu_seconds: z.number().nullable(),
  peak_memory_bytes: z.number().nullable(),
  /** At most 100 of them. */
  changed: z.array(z.string()),
  changed_count: count,
  submission: SubmissionState.nullable(),
  budget: Budget.nullable(),
  /** The workspace after it: equal ids mean equal content. */
  snapshot: ObjectId.nullable(),
  warnings: z.array(StepWarning),
  grade: GradedStep.extend({ problems: z.array(SubmissionProblem) }).nullable(),
  /** The run was resumed before or within this step. */
  resumed: z.boolean(),
});
export type StepPage = z.infer<typeof StepPage>;

/** `…/steps/:step/files`: the workspace after the step. */
export const FileList = z.object({
  step: count,
  files: z.array(
    z.object({
      path: z.string(),
      kind: z.enum(['file', 'link', 'folder']),
      size: count.nullable(),
      /** For a file: the object to request from `/api/experiments/:experiment/objects/:object`. */
      object: ObjectId.nullable(),
      /** For a link: its target, as text. */
      target: z.string().nullable(),
      /** Compared with the step before. */
      change: z.enum(['added', 'modified']).nullable(),
    }),
  ),
  /** Paths that only the step before had. */
  removed: z.array(z.string()),
});
export type FileList = z.infer<typeof FileList>;

/**
 * `/api/experiments/:experiment/objects/:object`: a file of a snapshot, as text. `…/raw`: its bytes, to download.
 * Objects never change.
 */
export const FileText = z.object({
  object: ObjectId,
  bytes: count,
  /** Null: not UTF-8 text, or more than 4 MiB; it can be downloaded. */
  text: z.string().nullable(),
});
export type FileText = z.infer<typeof FileText>;

/** `…/steps/:step/diff?against=…`: from another step (default: the one before) to this one. */
export const StepDiff = z.object({
  step: count,
  against: count,
  /** At most 300 of them. */
  files: z.array(
    z.object({
      path: z.string(),
      kind: z.enum(['added', 'removed', 'modified']),
      as: z.enum(['text', 'binary', 'too_large', 'link', 'mode', 'folder', 'kind']),
      /** Unified, with three lines of context. */
      patch: z.string().nullable(),
      before: z.object({ object: ObjectId, size: count }).nullable(),
      after: z.object({ object: ObjectId, size: count }).nullable(),
    }),
  ),
  /** How many there are. */
  total: count,
});
export type StepDiff = z.infer<typeof StepDiff>;

/**
 * `…/search?q=…&from=…`: the texts of steps that contain it, ignoring case. Searches for about a second per request.
 */
export const SearchResult = z.object({
  query: z.string(),
  hits: z.array(
    z.object({
      step: count,
      /** Such as `action`, `argument script`, `observation`, `entry Thought`, `answer`. */
      place: z.string(),
      before: z.string(),
      match: z.string(),
      after: z.string(),
      /** How often that text contains it. */
      count: z.int().min(1),
    }),
  ),
  /** The `from` of the next request; null: everything was searched. */
  next: z.int().nullable(),
});
export type SearchResult = z.infer<typeof SearchResult>;
