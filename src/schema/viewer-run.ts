import { z } from 'zod';
import { ActionStatus } from './action.ts';
import { AgentClaims } from './agent-claims.ts';
import { GradedStep, RunEvaluation } from './evaluation.ts';
import { BranchOrigin, EndReason } from './event.ts';
import { Lesson } from './experience.ts';
import { BranchId, RunId, TaskId } from './ids.ts';
import { Limits } from './limits.ts';
import { ModelRoles } from './model.ts';
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
  caveats: z.array(z.string()),
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
  /** Steps of all its branches, which its limit counts. */
  steps_used: count,
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
  /** What the agent wrote, where somebody replaced it: the index of its name. */
  replaced: z.array(z.object({ step: z.int().min(1), action: count })),
  /** The evaluation is being made: grades, warnings, readings and summaries may be missing. */
  pending: z.boolean(),
});
export type Timeline = z.infer<typeof Timeline>;
