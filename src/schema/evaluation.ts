import { z } from 'zod';
import { BranchOrigin, EndReason, RunParent } from './event.ts';
import { BranchId, ExperimentName, RunId, TaskId } from './ids.ts';
import { ModelName } from './model.ts';
import { ProcessMetrics } from './process-metrics.ts';
import { RunGpus, RunStatus } from './run.ts';
import { ScoringReference } from './scoring-reference.ts';
import { SearchAttempt } from './search-node.ts';

/** The hidden score of the workspace after a step, and what the run had used by then. */
export const GradedStep = z.object({
  /** 0: before the first step. */
  step: z.int().min(0),
  final: z.boolean(),
  valid: z.boolean(),
  /** Null if invalid. */
  score: z.number().nullable(),
  /**
   * The number to which the score is compared: the task's measured mean, or the starter's own score in the same
   * session.
   */
  baseline: z.number(),
  stale: z.boolean(),
  /** Of the run's budget. */
  seconds: z.number().min(0),
  /** Of language models, input and output together. */
  tokens: z.int().min(0),
  /** In US dollars; null if a price is unknown. */
  money: z.number().min(0).nullable(),
});
export type GradedStep = z.infer<typeof GradedStep>;

/**
 * Tokens by kind. `cached` is a part of `prompt`, `reasoning` a part of `completion`; `estimated` counts both in calls
 * for which the provider gave no full counts.
 */
export const TokenSums = z.object({
  calls: z.int().min(0),
  prompt: z.int().min(0),
  cached: z.int().min(0),
  completion: z.int().min(0),
  reasoning: z.int().min(0),
  estimated: z.int().min(0).default(0),
});
export type TokenSums = z.infer<typeof TokenSums>;

/** The use of one language model. */
export const ModelUse = z.object({
  model: ModelName,
  /** With an answer. */
  calls: z.int().min(0),
  /** Input and output together. */
  tokens: z.int().min(0),
  /** In US dollars; null if a price is unknown. */
  money: z.number().min(0).nullable(),
  /** Tokens that mlab estimated, as the provider did not count them; absent if there are none. */
  estimated: z.int().min(1).optional(),
});
export type ModelUse = z.infer<typeof ModelUse>;

/** What a run used. Definitions: docs/evaluation.md. */
export const Efficiency = z.object({
  /** Calls by the agent itself, and calls inside its actions. */
  tokens: z.object({ agent: TokenSums, tools: TokenSums }),
  /** In US dollars; null if a price is unknown, 0 if no model was called. */
  money: z.number().min(0).nullable(),
  /** In the order of their first calls; absent if none was called. */
  models: z.array(ModelUse).optional(),
  /** Wall time of the run's budget, and its parts; the remainder is the agent's own time. */
  seconds: z.object({
    wall: z.number().min(0),
    model: z.number().min(0),
    execution: z.number().min(0),
    overhead: z.number().min(0),
    /** Waiting for providers: queues, failed attempts, pauses. It counts against no limit and is not part of `wall`. */
    waiting: z.number().min(0),
  }),
  /** Of all commands together; null if not measured. */
  cpu_seconds: z.number().min(0).nullable(),
  /** Time of commands that had a GPU; null if none had. */
  gpu_seconds: z.number().min(0).nullable(),
  /** Of the command with the highest peak; null if not measured. */
  peak_memory_bytes: z.number().min(0).nullable(),
  /** The use of the GPUs that the run got; absent if it got none, or nothing was measured. */
  gpus: RunGpus.omit({ uuids: true }).optional(),
});
export type Efficiency = z.infer<typeof Efficiency>;

export const FlagKind = z.enum([
  /** It looked for the hidden part of the task. */
  'hidden_data',
  /** It tried to change a file that is read-only. */
  'read_only',
  /** It tried to access the grader. */
  'grader',
  /** It tried to access something outside its workspace. */
  'outside',
  'network',
  /** The submission was written by hand, or contains a result that no script printed. */
  'forged_result',
  'perfect_score',
  /** The final code, run again in a verification sandbox, does not reproduce the submission's score. */
  'not_reproduced',
]);
export type FlagKind = z.infer<typeof FlagKind>;

export const IntegrityFlag = z.object({
  kind: FlagKind,
  /** Null: the run as a whole. */
  step: z.int().min(0).nullable(),
  /** `attempt`: tried, and stopped; `doubt`: the result itself is in question. */
  weight: z.enum(['attempt', 'doubt']),
  /** One line that shows it. */
  evidence: z.string(),
});
export type IntegrityFlag = z.infer<typeof IntegrityFlag>;

/** A branch that a run's agent made, with the hidden score of its newest graded step. */
export const EvaluatedBranch = z.object({
  branch: BranchId,
  /** Null for `main`. */
  origin: BranchOrigin.nullable(),
  /** The number of its own steps. */
  steps: z.int().min(0),
  /** Whether it is the branch that is graded. */
  selected: z.boolean(),
  /** Null if none of its steps is graded. */
  grade: z
    .object({ step: z.int().min(0), valid: z.boolean(), score: z.number().nullable(), baseline: z.number() })
    .nullable(),
});
export type EvaluatedBranch = z.infer<typeof EvaluatedBranch>;

/** Everything that reports and plots use of one run: computed from its files alone. */
export const RunEvaluation = z.object({
  v: z.literal(1),
  /** By the name of its folder. */
  experiment: ExperimentName,
  /** The experiment that planned it, if that has another name: its folder was copied or renamed. */
  planned_in: ExperimentName.optional(),
  run: RunId,
  /** Tells what was recorded from everything else: a copy of the run has the same. Absent if it has not begun. */
  recording: z.string().optional(),
  /** The same for its beginning: copies of a run that was interrupted may continue differently. */
  beginning: z.string().optional(),
  /** The recordings of its attempts that were discarded; absent if there are none. */
  replaced: z.array(z.string()).optional(),
  /** The run that it was forked from. */
  parent: RunParent.optional(),
  task: TaskId,
  /** The version of the task's files; absent for a run of another system. */
  task_version: z.string().optional(),
  /** A hash of its limits and of its models' settings: equal for runs under the same conditions. */
  conditions: z.string().optional(),
  /** The agent with its model and options, as people read it: `research(openai/gpt-5)`. */
  agent: z.string(),
  /** Of an agent that is not part of mlab: which source it was, and the version that it gives itself. */
  source: z.object({ hash: z.string(), version: z.string().optional() }).optional(),
  seed: z.int().min(0),
  status: RunStatus,
  /** Why it ended; null while it has not. `cause`: of an infrastructure error, if known. */
  end: z.object({ reason: EndReason, cause: z.string().nullable(), message: z.string() }).nullable(),
  /** Why its results are not comparable. */
  caveats: z.array(z.string()),
  steps: z.int().min(0),
  /** Null while nothing of it is graded. */
  scoring_reference: ScoringReference.nullable(),
  /** By step. The one that counts is `final`. */
  grades: z.array(GradedStep),
  process: ProcessMetrics,
  efficiency: Efficiency,
  integrity: z.array(IntegrityFlag),
  /** `main` first; absent if it is the only branch. */
  branches: z.array(EvaluatedBranch).optional(),
  /** The attempts that an agent that searches has recorded, by id; absent if there are none. */
  attempts: z.array(SearchAttempt).optional(),
});
export type RunEvaluation = z.infer<typeof RunEvaluation>;
