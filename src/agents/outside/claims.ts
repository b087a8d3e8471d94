import { z } from 'zod';
import type { ProgramClaim } from './program.ts';

const count = z.number().min(0).catch(0);
const Usage = z.object({ input_tokens: count, output_tokens: count }).transform(sumOfTokens);
const sumOf = (counts: readonly number[]) => counts.reduce((sum, one) => sum + one, 0);

function sumOfTokens({ input_tokens: input, output_tokens: output }: Record<string, number>): number {
  return (input ?? 0) + (output ?? 0);
}

const Codex = z.union([
  z
    .object({ type: z.literal('thread.started'), thread_id: z.string() })
    .transform(({ thread_id: session }): ProgramClaim => ({ session })),
  z
    .object({ type: z.literal('turn.completed'), usage: Usage })
    .transform(({ usage: tokens }): ProgramClaim => ({ tokens })),
]);

const OpenCode = z.union([
  z
    .object({
      type: z.literal('step_finish'),
      sessionID: z.string(),
      part: z.object({ cost: count, tokens: z.object({ input: count, output: count }) }),
    })
    .transform(
      ({ sessionID: session, part: { cost, tokens } }): ProgramClaim => ({
        ...{ session, cost, tokens: sumOf([tokens.input, tokens.output]) },
      }),
    ),
  z
    .object({
      type: z.literal('tool_use'),
      part: z.object({
        tool: z.literal('task'),
        state: z.object({ input: z.object({ subagent_type: z.string() }) }),
      }),
    })
    .transform(({ part: { state } }): ProgramClaim => ({ subagent: state.input.subagent_type })),
]);

/** Claude Code, and programs with the same format. */
const StreamJson = z.union([
  z
    .object({
      type: z.literal('result'),
      session_id: z.string(),
      total_cost_usd: z.number().min(0).optional(),
      usage: Usage.optional(),
      stats: z.object({ total_tokens: count }).optional().catch(undefined),
    })
    .transform(
      ({ session_id: session, total_cost_usd: cost, usage, stats }): ProgramClaim => ({
        ...{ session, cost, tokens: usage ?? stats?.total_tokens },
      }),
    ),
  z
    .object({
      type: z.literal('assistant'),
      message: z.object({
        content: z.array(z.unknown()).transform((parts) => parts.flatMap(startedAgent)),
      }),
    })
    .transform(({ message: { content } }): ProgramClaim => ({ subagent: content[0] })),
  z
    .object({ type: z.literal('init'), session_id: z.string() })
    .transform(({ session_id: session }): ProgramClaim => ({ session })),
  z
    .object({ type: z.literal('result'), stats: z.object({ total_tokens: count }) })
    .transform(({ stats }): ProgramClaim => ({ tokens: stats.total_tokens })),
]);

/** It does not report its session. */
const Goose = z.union([
  z
    .object({
      type: z.literal('complete'),
      total_tokens: count,
      cost_usd: z.number().min(0).optional().catch(undefined),
    })
    .transform(({ total_tokens: tokens, cost_usd: cost }): ProgramClaim => ({ tokens, cost })),
  z
    .object({
      type: z.literal('message'),
      message: z.object({
        content: z.array(z.unknown()).transform((parts) => parts.flatMap(delegated)),
      }),
    })
    .transform(({ message: { content } }): ProgramClaim => ({ subagent: content[0] })),
]);

function delegated(part: unknown): string[] {
  const Call = z.object({
    type: z.literal('toolRequest'),
    toolCall: z.object({
      value: z.object({
        name: z.literal('delegate'),
        arguments: z.object({ source: z.string().catch('delegate') }),
      }),
    }),
  });
  const call = Call.safeParse(part);
  return call.success ? [call.data.toolCall.value.arguments.source] : [];
}

/** It reports its actions, but not what they cost. */
const OpenHands = z
  .object({
    kind: z.literal('ActionEvent'),
    tool_name: z.literal('task'),
    action: z.object({ subagent_type: z.string() }),
  })
  .transform(({ action }): ProgramClaim => ({ subagent: action.subagent_type }));

function startedAgent(part: unknown): string[] {
  const Call = z.object({
    type: z.literal('tool_use'),
    name: z.string().regex(/^(task|agent)$/i),
    input: z.object({ subagent_type: z.string() }),
  });
  const call = Call.safeParse(part);
  return call.success ? [call.data.input.subagent_type] : [];
}

const claimOf = (format: z.ZodType<ProgramClaim>) => (event: unknown) => format.safeParse(event).data ?? null;

/** What a parsed line of a program's log reports about the program. Costs and tokens of several lines add up. */
export const claims = {
  codex: claimOf(Codex),
  goose: claimOf(Goose),
  opencode: claimOf(OpenCode),
  openhands: claimOf(OpenHands),
  streamJson: claimOf(StreamJson),
};
