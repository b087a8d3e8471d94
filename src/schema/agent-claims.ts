import { z } from 'zod';

/** What an agent that is a program says of itself in its own log: evidence, which no number is taken from. */
export const AgentClaims = z.object({
  /** What it calls its session. */
  session: z.string().max(200).nullable(),
  /** In US dollars. */
  cost: z.number().min(0).nullable(),
  tokens: z.number().min(0).nullable(),
  /** The agents that it started itself, as it calls them. */
  subagents: z.array(z.string().max(200)).max(100),
});
export type AgentClaims = z.infer<typeof AgentClaims>;
