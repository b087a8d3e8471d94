import { z } from 'zod';

/** What became of an attempt. `dropped`: it ran, and is no better than what it came from. */
export const SearchStatus = z.enum(['pending', 'kept', 'dropped', 'failed']);
export type SearchStatus = z.infer<typeof SearchStatus>;

/**
 * One attempt of an agent that searches. It stands in the trace as the JSON text of a note, under `searchNodeEntry`; of
 * several with one id, the last one holds.
 */
export const SearchNode = z.object({
  id: z.int().min(0),
  /** What it was made from; null for the first. */
  parent: z.int().min(0).nullable(),
  /** What else it was made from: only where two were merged. */
  other: z.int().min(0).nullable(),
  /** How it was made: draft, improve … */
  operator: z.string().max(40),
  /** Whose workspace it is; null where it has none of its own. */
  branch: z.string().max(20).nullable(),
  status: SearchStatus,
  /** What it changes, in a sentence. */
  change: z.string().max(400),
  /** Why it was chosen, or how it ended. */
  why: z.string().max(400),
  /** In the unit of the metric, as its script printed it. */
  score: z.number().nullable(),
  /** Seconds of one run of its script. */
  seconds: z.number().min(0).nullable(),
  /** What it took of the run's limits: the largest share of steps, time, tokens or money, from 0 to 1. */
  cost: z.number().min(0),
  /** The best one known after it. */
  is_best: z.boolean(),
});
export type SearchNode = z.infer<typeof SearchNode>;

/** The entry of a note that holds a `SearchNode`. */
export const searchNodeEntry = 'Search node';
