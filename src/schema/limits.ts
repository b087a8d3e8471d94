import { z } from 'zod';

/** The limits of one run. */
export const Limits = z
  .strictObject({
    steps: z.int().min(1).describe('actions an agent may take'),
    wall_seconds: z.number().positive().describe('wall time of the whole run, in seconds'),
    script_seconds: z.number().positive().describe('wall time of one script or command, in seconds'),
    memory_mb: z.int().min(64).describe('memory of all processes of one script together, in MiB'),
    processes: z.int().min(8).describe('processes and threads of one script together'),
    workspace_mb: z.int().min(1).describe('size of the workspace without the data, in MiB'),
    stored_mb: z
      .int()
      .min(1)
      .optional()
      .describe(
        'what the run may add to its experiment folder, compressed, in MiB; default: 8 times the workspace',
      ),
    branches_at_once: z
      .int()
      .min(1)
      .optional()
      .describe(
        'branches of a run that take a step at the same time, each with the memory of a script; default: as many as the run has cores, at most 4',
      ),
    tokens: z
      .int()
      .min(1)
      .optional()
      .describe('tokens of language models, input and output together; default: no limit'),
    money: z
      .number()
      .positive()
      .optional()
      .describe('cost of language models in US dollars; default: no limit'),
  })
  .meta({ id: 'Limits' });
export type Limits = z.infer<typeof Limits>;

/** The paper's limits for steps and time; the others fit a laptop. */
export const defaultLimits: Limits = {
  steps: 50,
  wall_seconds: 5 * 3600,
  script_seconds: 3600,
  memory_mb: 4096,
  processes: 512,
  workspace_mb: 2048,
};

/** In bytes. Plans from before this limit existed have the default. */
export function storedBytesLimit(limits: Limits): number {
  return (limits.stored_mb ?? 8 * limits.workspace_mb) * 2 ** 20;
}

/** @param cores reserved for the run */
export function branchesAtOnce(limits: Limits, cores: number): number {
  return limits.branches_at_once ?? Math.min(4, Math.max(1, cores));
}

/** What is left of a run's limits. */
export const Budget = z.object({
  steps_left: z.int(),
  seconds_left: z.number(),
  steps_used: z.int(),
  seconds_used: z.number(),
  /** Null if not limited. */
  tokens_left: z.number().nullable(),
  /** In US dollars; null if not limited. */
  money_left: z.number().nullable(),
});
export type Budget = z.infer<typeof Budget>;
