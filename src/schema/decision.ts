import { z } from 'zod';
import { Time } from './time.ts';

const written = {
  v: z.literal(1),
  time: Time,
  /** Who decided. */
  actor: z.string().min(1).max(200),
};

/**
 * `decisions/<name>.json` in a run's folder: a person's decision on an action that waits. The name identifies the
 * action.
 */
export const Decision = z.discriminatedUnion('verdict', [
  z.object({ ...written, verdict: z.literal('allow'), reason: z.string().optional() }),
  /** The agent sees the reason. */
  z.object({ ...written, verdict: z.literal('deny'), reason: z.string() }),
  /** Another action is performed instead of the agent's. */
  z.object({
    ...{ ...written, verdict: z.literal('replace'), reason: z.string().optional() },
    replacement: z.object({ name: z.string(), args: z.record(z.string(), z.json()) }),
  }),
]);
export type Decision = z.infer<typeof Decision>;
