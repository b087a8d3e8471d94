import { z } from 'zod';

/** The state of an attempt. `dropped`: it ran, but is no better than its parent. */
export const SearchStatus = z.enum(['pending', 'kept', 'dropped', 'failed']);
export type SearchStatus = z.infer<typeof SearchStatus>;

/**
 * One attempt of an agent that searches. It is in the trace as the JSON text of a note, under `searchNodeEntry`; if
 * several have the same id, the last one counts.
 */
export const SearchNode = z.object({
  id: z.int().min(0),
  /** The attempt that it was made from; null for the first. */
  parent: z.int().min(0).nullable(),
  /** The second attempt that it was made from, if two were merged. */
  other: z.int().min(0).nullable(),
  /** How it was made: draft, improve … */
  operator: z.string().max(40),
  /** The branch with its workspace; null if it has none. */
  branch: z.string().max(20).nullable(),
  status: SearchStatus,
  /** What it changes, in a sentence. */
  change: z.string().max(400),
  /** Why it was chosen, or how it ended. */
  why: z.string().max(400),
  /** In the unit of the metric, as its script printed it, or as the search corrected it. */
  score: z.number().nullable(),
  /** Seconds of one run of its script. */
  seconds: z.number().min(0).nullable(),
  /** Its share of the run's limits: the largest of steps, time, tokens and money, from 0 to 1. */
  cost: z.number().min(0),
  /** Whether it was the best one at that time. */
  is_best: z.boolean(),
});
export type SearchNode = z.infer<typeof SearchNode>;

/** An attempt as it was in the end. */
export const SearchAttempt = SearchNode.extend({
  /** The last step that belongs to it, of a search on one branch; null if its own branch or another one has the steps. */
  step: z.int().min(0).nullable(),
  /** Whether it is the one that was chosen in the end. */
  is_final: z.boolean(),
});
export type SearchAttempt = z.infer<typeof SearchAttempt>;

/** What reports have of an attempt; `change` is shortened. */
export const ReportAttempt = SearchAttempt.pick({
  ...{ id: true, parent: true, operator: true, status: true, change: true, score: true, cost: true },
  is_final: true,
});
export type ReportAttempt = z.infer<typeof ReportAttempt>;

/** The entry of a note that contains a `SearchNode`. */
export const searchNodeEntry = 'Search node';
