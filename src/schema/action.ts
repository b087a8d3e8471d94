import { z } from 'zod';

/** An action that an agent asks for. The environment checks names and arguments, not this schema. */
export const Action = z.object({
  name: z.string(),
  args: z.record(z.string(), z.unknown()),
});
export type Action = z.infer<typeof Action>;

/**
 * How an action ended.
 * - `ok`: done
 * - `failed`: done, but the script or command exited with an error, or a file did not exist
 * - `invalid`: unknown action, or wrong or missing arguments
 * - `refused`: a path outside the workspace, a read-only file
 * - `timed_out`, `out_of_memory`, `workspace_full`: a limit ended it
 * - `closed`: the run is over
 * - `error`: a fault of mlab, reported as an observation
 */
export const ActionStatus = z.enum([
  'ok',
  'failed',
  'invalid',
  'refused',
  'timed_out',
  'out_of_memory',
  'workspace_full',
  'closed',
  'error',
]);
export type ActionStatus = z.infer<typeof ActionStatus>;
