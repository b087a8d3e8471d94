import { z } from 'zod';
import { withCaveats } from './caveats.ts';
import { BranchId, ObjectId } from './ids.ts';
import { ScoreFigures } from './scoring-reference.ts';
import { Time } from './time.ts';

/** What is wrong with a submission. */
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

/** A grader's result for one submission. */
export const GraderResult = z.object({
  submission: z.string(),
  valid: z.boolean(),
  /** Hidden score in the unit of the task's metric; null if invalid. */
  score: z.number().nullable(),
  /** The starter's score measured in the same session, if the grader compares the two. */
  baseline: z.number().optional(),
  problems: z.array(SubmissionProblem),
  details: z.record(z.string(), z.unknown()).default({}),
});
export type GraderResult = z.infer<typeof GraderResult>;

/** One line of `grades.jsonl`. */
export const Grade = withCaveats(
  z.object({
    v: z.literal(1),
    /** Milliseconds since 1970. */
    time: Time,
    /** The step whose workspace was graded; 0 is the starter before any step. */
    step: z.int().min(0),
    /** The branch that took the step; absent: `main`, or unknown in an older grade. */
    branch: BranchId.optional(),
    /** Whether it was the run's final workspace when this was written; `currentGrades` says whether it still is. */
    final: z.boolean(),
    snapshot: ObjectId,
    /** Hash over the submission files; null if one is missing. */
    submission: ObjectId.nullable(),
    stale: z.boolean(),
    /** Hash over the grader, the helper package, the hidden data's manifest and the task's metric. */
    grader: z.string(),
    valid: z.boolean(),
    score: z.number().nullable(),
    /**
     * The number to which the score is compared: the task's measured mean, or the starter's own score in the same
     * session.
     */
    baseline: z.number(),
    /** From the task when this was graded, so that a report needs no task files. */
    direction: z.enum(['maximize', 'minimize']),
    threshold: z.number().positive(),
    /** The task's figures when this was graded; absent in older grades. */
    figures: z
      .object({
        baseline: ScoreFigures,
        reference: ScoreFigures,
        /** The best possible score; null if there is no such bound. */
        best: z.number().nullable(),
      })
      .optional(),
    problems: z.array(SubmissionProblem),
    details: z.record(z.string(), z.unknown()),
    seconds: z.number(),
    /**
     * If the grader times submitted code: cores that other programs kept busy meanwhile, on average; absent if not
     * measured.
     */
    others_cores: z.number().nonnegative().optional(),
    /** Why the result is not comparable: unverified data, no sandbox, … */
    caveats: z.array(z.string()),
  }),
);
export type Grade = z.infer<typeof Grade>;
