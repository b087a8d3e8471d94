import { z } from 'zod';
import { Difference } from './report.ts';
import { Estimate, Rate, ReportInterval } from './report-parts.ts';

/** What two sides have in one task (of one agent, where the sides have an agent in common). */
export const ComparedCell = z.object({
  task: z.string(),
  /** Null where the sides have no agent in common. */
  agent: z.string().nullable(),
  a: z.object({ success: Rate, normalised: Estimate.nullable(), improvement: Estimate.nullable() }),
  b: z.object({ success: Rate, normalised: Estimate.nullable(), improvement: Estimate.nullable() }),
  /** B less A, with Newcombe's interval. */
  success_change: z.object({ value: z.number(), interval: ReportInterval }),
  /** B against A: that runs of B have better scores; corrected for the number of these cells. */
  superiority: Difference,
});
export type ComparedCell = z.infer<typeof ComparedCell>;

/** What changed from A to B: every difference is B less A. */
export const Comparison = z.object({
  v: z.literal(1),
  a: z.string(),
  b: z.string(),
  cells: z.array(ComparedCell),
  /** Tasks (with their agent) that only one side has runs of that count. */
  only_a: z.array(z.string()),
  only_b: z.array(z.string()),
  overall: z.object({
    success: Difference.nullable(),
    normalised: Difference.nullable(),
    superiority: Difference.nullable(),
    /** Means of a run, over the common cells. */
    money: z.object({ a: z.number().nullable(), b: z.number().nullable() }),
    seconds: z.object({ a: z.number().nullable(), b: z.number().nullable() }),
    tokens: z.object({ a: z.number().nullable(), b: z.number().nullable() }),
  }),
  /** The same in words. */
  sentences: z.array(z.string()),
});
export type Comparison = z.infer<typeof Comparison>;
