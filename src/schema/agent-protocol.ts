import { z } from 'zod';
import { Action } from './action.ts';
import { Json } from './json.ts';
import { Budget } from './limits.ts';
import { ModelRequest } from './model.ts';
import { AgentOptions } from './run.ts';
import { TaskBrief } from './task.ts';

/** The version of docs/agent-protocol.md. */
export const agentProtocol = 1;

const version = { jsonrpc: z.literal('2.0') };
const RpcId = z.union([z.int(), z.string().max(100)]);

/** What an agent's process learns when its run begins: the parameters of `run`. */
export const AgentRunParams = z.object({
  task: TaskBrief,
  actions: z.array(
    z.object({
      name: z.string(),
      description: z.string(),
      arguments: z.array(
        z.object({ name: z.string(), description: z.string(), optional: z.boolean().optional() }),
      ),
      input_schema: z.record(z.string(), z.unknown()),
    }),
  ),
  budget: Budget,
  seed: z.int(),
  options: AgentOptions,
});
export type AgentRunParams = z.infer<typeof AgentRunParams>;

/** A request of an agent's process, which is answered. */
export const AgentCall = z.discriminatedUnion('method', [
  z.object({
    method: z.literal('step'),
    params: z.object({ branch: z.string().default('main'), action: Action }),
  }),
  z.object({ method: z.literal('ask'), params: ModelRequest }),
  z.object({
    method: z.literal('fork'),
    params: z.object({ branch: z.string().default('main'), at: z.int().min(0).optional() }),
  }),
]);
export type AgentCall = z.infer<typeof AgentCall>;

const mostEntries = 100;
const longestName = 200;
const NoteEntries = z
  .record(z.string(), z.string())
  .refine(
    (entries) => Object.keys(entries).length <= mostEntries,
    `a note has at most ${mostEntries} entries`,
  )
  .refine(
    (entries) => Object.keys(entries).every(({ length }) => length <= longestName),
    `the name of an entry has at most ${longestName} characters`,
  );

/** A message of an agent's process without an answer. */
export const AgentNotification = z.discriminatedUnion('method', [
  z.object({ method: z.literal('note'), params: z.object({ entries: NoteEntries }) }),
  z.object({ method: z.literal('select'), params: z.object({ branch: z.string() }) }),
  z.object({
    method: z.literal('give_up'),
    params: z.object({
      reason: z.enum(['context_limit', 'reply_format', 'refused']),
      message: z.string(),
    }),
  }),
  z.object({ method: z.literal('log'), params: z.object({ text: z.string() }) }),
]);
export type AgentNotification = z.infer<typeof AgentNotification>;

export const RpcRequest = z.object({ ...version, id: RpcId, method: z.string(), params: Json.optional() });
export type RpcRequest = z.infer<typeof RpcRequest>;
const RpcNotification = z.object({
  ...version,
  id: z.undefined().optional(),
  method: z.string(),
  params: Json.optional(),
});
const RpcResult = z.object({ ...version, id: RpcId, result: Json });
const RpcFailure = z.object({
  ...version,
  id: RpcId.nullable(),
  error: z.object({ code: z.int(), message: z.string(), data: Json.optional() }),
});

/**
 * One line that an agent's process writes. Several requests in one list run concurrently, and are answered together.
 */
export const RpcLine = z.union([
  RpcRequest.transform((request) => ({ kind: 'requests' as const, requests: [request], isList: false })),
  z
    .array(RpcRequest)
    .min(1)
    .max(1_000)
    .transform((requests) => ({ kind: 'requests' as const, requests, isList: true })),
  RpcResult.transform((message) => ({ kind: 'result' as const, ...message })),
  RpcFailure.transform((message) => ({ kind: 'failure' as const, ...message })),
  RpcNotification.transform((message) => ({ kind: 'notification' as const, ...message })),
]);
export type RpcLine = z.infer<typeof RpcLine>;
