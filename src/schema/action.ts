import { z } from 'zod';

/** What an agent asks for. Names and arguments are judged by the environment, not here. */
export const Action = z.object({
  name: z.string(),
  args: z.record(z.string(), z.unknown()),
});
export type Action = z.infer<typeof Action>;

/**
 * How an action ended.
 * - `ok`: done
 * - `failed`: done, and the script or command exited with an error, or a file was not there
 * - `invalid`: unknown action, or wrong or missing arguments
 * - `refused`: a path outside the workspace, a read-only file
 * - `timed_out`, `out_of_memory`, `workspace_full`: a limit ended it
 * - `closed`: the run is over
 * - `error`: a fault of ours, told as an observation
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
