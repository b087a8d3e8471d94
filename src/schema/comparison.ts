import { z } from 'zod';
import { Difference } from './report.ts';
import { Estimate, Rate, ReportInterval } from './report-parts.ts';

/** The results of two sides in one task (of one agent, if the sides have an agent in common). */
export const ComparedPair = z.object({
  task: z.string(),
  /** Null if the sides have no agent in common. */
  agent: z.string().nullable(),
  a: z.object({ success: Rate, normalised: Estimate.nullable(), improvement: Estimate.nullable() }),
  b: z.object({ success: Rate, normalised: Estimate.nullable(), improvement: Estimate.nullable() }),
  /** B minus A, with Newcombe's interval. */
  success_change: z.object({ value: z.number(), interval: ReportInterval }),
  /** B against A: whether runs of B have better scores; corrected for the number of these pairs. */
  superiority: Difference,
});
export type ComparedPair = z.infer<typeof ComparedPair>;

/** The changes from A to B: every difference is B minus A. */
export const Comparison = z.object({
  v: z.literal(1),
  a: z.string(),
  b: z.string(),
  pairs: z.array(ComparedPair),
  /** Tasks (with their agent) for which only one side has runs that count. */
  only_a: z.array(z.string()),
  only_b: z.array(z.string()),
  overall: z.object({
    success: Difference.nullable(),
    normalised: Difference.nullable(),
    superiority: Difference.nullable(),
    /** Means of a run, over the common task–agent pairs. */
    money: z.object({ a: z.number().nullable(), b: z.number().nullable() }),
    seconds: z.object({ a: z.number().nullable(), b: z.number().nullable() }),
    tokens: z.object({ a: z.number().nullable(), b: z.number().nullable() }),
  }),
  /** The same in words. */
  sentences: z.array(z.string()),
});
export type Comparison = z.infer<typeof Comparison>;
