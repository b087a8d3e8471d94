import { z } from 'zod';
import { BranchId, ObjectId } from './ids.ts';
import { ScoreFigures } from './scoring-reference.ts';
import { Time } from './time.ts';

/** What is wrong with a submission: each told apart. */
export const ProblemCode = z.enum([
  'missing_file',
  'not_a_file',
  'too_large',
  'unreadable',
  'missing_function',
  'wrong_columns',
  'missing_ids',
  'duplicate_ids',
  'extra_ids',
  'not_a_number',
  'not_finite',
  'out_of_range',
  'not_allowed',
  'wrong_shape',
  'wrong_output',
  'timed_out',
  'crashed',
]);
export const SubmissionProblem = z.object({ code: ProblemCode, message: z.string() });
export type SubmissionProblem = z.infer<typeof SubmissionProblem>;

/** What a grader says of one submission. */
export const GraderResult = z.object({
  submission: z.string(),
  valid: z.boolean(),
  /** Hidden score in the unit of the task's metric; null when invalid. */
  score: z.number().nullable(),
  /** The starter's score measured in the same session, where the grader compares side by side. */
  baseline: z.number().optional(),
  problems: z.array(SubmissionProblem),
  details: z.record(z.string(), z.unknown()).default({}),
});
export type GraderResult = z.infer<typeof GraderResult>;

/** One line of `grades.jsonl`. */
export const Grade = z.object({
  v: z.literal(1),
  /** Milliseconds since 1970. */
  time: Time,
  /** The step whose workspace was graded; 0 is the starter before any step. */
  step: z.int().min(0),
  /** The branch that took the step; absent: `main`, or not known of an older grade. */
  branch: BranchId.optional(),
  /** Of the workspace that the run had ended with when this was written; whether it still is says `currentGrades`. */
  final: z.boolean(),
  snapshot: ObjectId,
  /** Hash over the submission files; null when one is missing. */
  submission: ObjectId.nullable(),
  stale: z.boolean(),
  /** Hash over the grader, the helper package, the hidden data's manifest and the task's metric. */
  grader: z.string(),
  valid: z.boolean(),
  score: z.number().nullable(),
  /** What the score is compared with: the task's measured mean, or the starter's own score in the same session. */
  baseline: z.number(),
  /** What the task asked for when this was graded, so that a report needs no task files. */
  direction: z.enum(['maximize', 'minimize']),
  threshold: z.number().positive(),
  /** The task's figures when this was graded; absent in older grades. */
  figures: z
    .object({
      baseline: ScoreFigures,
      reference: ScoreFigures,
      /** The best score there can be; null where there is no such bound. */
      best: z.number().nullable(),
    })
    .optional(),
  problems: z.array(SubmissionProblem),
  details: z.record(z.string(), z.unknown()),
  seconds: z.number(),
  /**
   * Where the grader takes the time of submitted code: cores that other programs kept busy meanwhile, on average; absent where nobody
   * measured it.
   */
  others_cores: z.number().nonnegative().optional(),
  /** Why the result is not comparable: unverified data, no sandbox, … */
  marks: z.array(z.string()),
});
export type Grade = z.infer<typeof Grade>;
