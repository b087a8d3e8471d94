import { z } from 'zod';

/** Measured mean and spread of a score over seeds. */
export const ScoreFigures = z.object({
  mean: z.number(),
  /** Sample standard deviation; null if unknown. */
  spread: z.number().min(0).nullable(),
  seeds: z.int().min(1).nullable(),
});
export type ScoreFigures = z.infer<typeof ScoreFigures>;

/** What the scores of a run are compared with: the task's figures when the run was graded. */
export const ScoringReference = z.object({
  direction: z.enum(['maximize', 'minimize']),
  /** A fraction: success is an improvement beyond it. */
  threshold: z.number().positive(),
  baseline: ScoreFigures,
  /** The reference solution's; null if unknown. */
  reference: ScoreFigures.nullable(),
  /** The best possible score; null if there is no such bound. */
  best: z.number().nullable(),
});
export type ScoringReference = z.infer<typeof ScoringReference>;
