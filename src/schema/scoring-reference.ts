import { z } from 'zod';

/** Mean and spread of a score over seeds, as they were measured. */
export const ScoreFigures = z.object({
  mean: z.number(),
  /** Sample standard deviation; null where it is not known. */
  spread: z.number().min(0).nullable(),
  seeds: z.int().min(1).nullable(),
});
export type ScoreFigures = z.infer<typeof ScoreFigures>;

/** What the scores of a run are held against: the task as it was when the run was graded. */
export const ScoringReference = z.object({
  direction: z.enum(['maximize', 'minimize']),
  /** A fraction: success is an improvement beyond it. */
  threshold: z.number().positive(),
  baseline: ScoreFigures,
  /** The reference solution's; null where it is not known. */
  reference: ScoreFigures.nullable(),
  /** The best score there can be; null where there is no such bound. */
  best: z.number().nullable(),
});
export type ScoringReference = z.infer<typeof ScoringReference>;
