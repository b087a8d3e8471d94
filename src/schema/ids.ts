import { z } from 'zod';

const slug = /^[a-z0-9]+(?:[-_.][a-z0-9]+)*$/;

/** A task's name, which is also its folder's: lower-case words joined by `-`. */
export const TaskId = z
  .string()
  .max(64)
  .regex(slug, 'use lower-case letters and digits joined by "-"')
  .brand<'TaskId'>();
export type TaskId = z.infer<typeof TaskId>;

/** An experiment's name, which is also its folder's. */
export const ExperimentName = z
  .string()
  .max(100)
  .regex(slug, 'use lower-case letters and digits joined by "-", "_" or "."')
  .brand<'ExperimentName'>();
export type ExperimentName = z.infer<typeof ExperimentName>;

/** A run's name, unique within its experiment: `<task>-<agent>-<seed>`. */
export const RunId = z
  .string()
  .max(160)
  .regex(slug, 'use lower-case letters and digits joined by "-"')
  .brand<'RunId'>();
export type RunId = z.infer<typeof RunId>;

/** The SHA-256 of an object's content, in hex: its name in the store. */
export const ObjectId = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'a SHA-256 in hex')
  .brand<'ObjectId'>();
export type ObjectId = z.infer<typeof ObjectId>;

/** A branch of a run: `main`, or `b` and a number from 1, in the order in which they were forked. */
export const BranchId = z.union([
  z.literal('main'),
  z
    .string()
    .regex(/^b[1-9]\d{0,5}$/, '"main", or "b" and a number')
    .brand<'BranchId'>(),
]);
export type BranchId = z.infer<typeof BranchId>;
