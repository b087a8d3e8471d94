import { z } from 'zod';

/** What an agent's program reports about itself in its own log: evidence only, not used in any number. */
export const AgentClaims = z.object({
  /** Its own name for its session. */
  session: z.string().max(200).nullable(),
  /** In US dollars. */
  cost: z.number().min(0).nullable(),
  tokens: z.number().min(0).nullable(),
  /** The agents that it started itself, by its own names. */
  subagents: z.array(z.string().max(200)).max(100),
});
export type AgentClaims = z.infer<typeof AgentClaims>;
