import { z } from 'zod';
import { ObjectId } from './ids.ts';
import { Time } from './time.ts';

/** Whether the final training code reproduces the submission. Rules: docs/evaluation.md. */
export const Verdict = z.enum([
  /** The same submission, or the same score. */
  'reproduced',
  /** Another score, but the difference is within chance. */
  'within_noise',
  'not_reproduced',
  'could_not_run',
  'nothing_to_verify',
]);
export type Verdict = z.infer<typeof Verdict>;

/** One line of `verifications.jsonl`: the final code, run again in a verification sandbox. */
export const Verification = z.object({
  v: z.literal(1),
  /** Milliseconds since 1970. */
  time: Time,
  /** The workspace that was verified; null if the run left none. */
  snapshot: ObjectId.nullable(),
  /** Hash over its submission files; null if one is missing. */
  submission: ObjectId.nullable(),
  verdict: Verdict,
  /** One sentence. */
  reason: z.string(),
  /** What was run again, in this order. `step`: where it is in the trace; null for the task's entry script. */
  executed: z.array(z.object({ step: z.int().min(1).nullable(), command: z.string() })),
  /** Of the run's own submission; null if that is invalid or was not graded. */
  score: z.number().nullable(),
  /** Of the new submissions, one per repeat; null: invalid. */
  scores: z.array(z.number().nullable()),
  /** The largest difference that counts as chance, in the unit of the metric; null if no spread is known. */
  noise: z.number().min(0).nullable(),
  seconds: z.number().min(0),
  versions: z.record(z.string(), z.string()),
});
export type Verification = z.infer<typeof Verification>;
