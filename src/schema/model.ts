import { z } from 'zod';
import { Json } from './json.ts';

/** What a run uses a language model for: to act, to edit files, or to summarise quickly. */
export const ModelRole = z.enum(['agent', 'editor', 'fast']);
export type ModelRole = z.infer<typeof ModelRole>;

/** `provider/name`: the provider is the part before the first slash. */
export const ModelName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]*\/\S+$/, 'a provider and a model, such as anthropic/claude-opus-4-5');
export type ModelName = z.infer<typeof ModelName>;

export const RoleSettings = z.strictObject({
  model: ModelName.describe('the language model, as provider/name'),
  temperature: z.number().min(0).max(2).nullable().describe("sampling temperature; null: the provider's own"),
  max_output_tokens: z.int().min(1).describe('most tokens of one reply'),
});
export type RoleSettings = z.infer<typeof RoleSettings>;

/** The model behind each role of one run. */
export const ModelRoles = z.strictObject({ agent: RoleSettings, editor: RoleSettings, fast: RoleSettings });
export type ModelRoles = z.infer<typeof ModelRoles>;

/** A tool that a model may call. */
export const ModelTool = z.object({
  /** Letters, digits, `_` and `-`, at most 64 of them: all that providers allow. */
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
  description: z.string(),
  /** A JSON schema of an object. */
  input_schema: z.record(z.string(), Json),
});
export type ModelTool = z.infer<typeof ModelTool>;

export const ToolCall = z.object({
  id: z.string(),
  name: z.string(),
  /** The arguments from the model; a text if they are not JSON. */
  input: Json,
});
export type ToolCall = z.infer<typeof ToolCall>;

/** One message of a conversation. `stable` says that it, and all messages before it, recur in later requests. */
export const ModelMessage = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system'), text: z.string(), stable: z.boolean().optional() }),
  z.object({ role: z.literal('user'), text: z.string(), stable: z.boolean().optional() }),
  z.object({
    role: z.literal('assistant'),
    text: z.string(),
    tool_calls: z.array(ToolCall).optional(),
    /** The provider's own form of it (signed reasoning, say), to be sent back unchanged. */
    provider: Json.optional(),
  }),
  z.object({
    role: z.literal('tool'),
    call_id: z.string(),
    name: z.string(),
    text: z.string(),
    stable: z.boolean().optional(),
  }),
]);
export type ModelMessage = z.infer<typeof ModelMessage>;

export const ModelRequest = z.object({
  role: ModelRole,
  /** What it is for, in a few words, for readers of the trace: `act`, `summarise an observation`. */
  purpose: z.string(),
  messages: z.array(ModelMessage).min(1),
  tools: z.array(ModelTool).optional(),
  /** The reply ends before any of these texts. */
  stop: z.array(z.string()).optional(),
});
export type ModelRequest = z.infer<typeof ModelRequest>;

/** A model's answer, which may also be a refusal, or say that the conversation is too long. */
export const ModelAnswer = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('answered'),
    text: z.string(),
    tool_calls: z.array(ToolCall),
    /** `length`: cut off at the limit of tokens. */
    finish: z.enum(['stop', 'length', 'tool_calls', 'other']),
    /** See `ModelMessage`. */
    provider: Json.optional(),
  }),
  /** The provider or the model declined because of the content. */
  z.object({ kind: z.literal('refused'), message: z.string() }),
  /** The request has more tokens than the model can read. */
  z.object({ kind: z.literal('context_too_long'), message: z.string() }),
]);
export type ModelAnswer = z.infer<typeof ModelAnswer>;

/** Tokens of one call. */
export const TokenUsage = z.object({
  input: z.int().min(0),
  cached_input: z.int().min(0).describe('part of `input`'),
  cache_write: z.int().min(0).describe('part of `input`'),
  output: z.int().min(0),
  reasoning: z.int().min(0).describe('part of `output`'),
  source: z
    .enum(['provider', 'estimate'])
    .describe('counted by the provider, or estimated from the texts if it gave no counts'),
});
export type TokenUsage = z.infer<typeof TokenUsage>;

/** The cost of all attempts of a call. */
export const CallCharge = z.object({
  usage: TokenUsage,
  /** In US dollars; null if the price is unknown. */
  cost: z.number().min(0).nullable(),
});
export type CallCharge = z.infer<typeof CallCharge>;

/** The provider interfaces that programs can use with the gateway: OpenAI's two, Anthropic's and Google's. */
export const DialectName = z.enum(['chat_completions', 'responses', 'messages', 'generate_content']);
export type DialectName = z.infer<typeof DialectName>;

/** The purpose, in the trace, of calls by tools that an agent built. */
export const toolPurpose = 'answer a tool';

/** Why no answer came in spite of all retries. None of these is the agent's fault. */
export const ModelFailure = z.enum([
  'key_missing',
  'unauthorised',
  'unknown_model',
  'bad_request',
  'quota_exhausted',
  'rate_limited',
  'overloaded',
  'timed_out',
  'connection',
  'malformed',
]);
export type ModelFailure = z.infer<typeof ModelFailure>;

/** Why a call has no answer. `cut_off`: the run's time was up, or it was stopped, while the call was under way. */
export const CallFailure = z.enum([...ModelFailure.options, 'cut_off']);
export type CallFailure = z.infer<typeof CallFailure>;

/** One failed attempt of a call. */
export const FailedAttempt = z.object({
  failure: ModelFailure,
  message: z.string(),
  duration_ms: z.number().describe('how long the attempt took'),
  waited_ms: z.number().describe('how long was waited after it'),
});
export type FailedAttempt = z.infer<typeof FailedAttempt>;

/** Prices in US dollars per million tokens, valid on a date. */
export const ModelPrice = z.strictObject({
  input: z.number().min(0).describe('US dollars per million tokens'),
  cached_input: z.number().min(0).optional().describe('default: as input'),
  cache_write: z.number().min(0).optional().describe('default: as input'),
  output: z.number().min(0).describe('US dollars per million tokens'),
  date: z.iso.date().describe('date on which these prices were valid'),
  source: z.string().min(1).describe('where they are published'),
});
export type ModelPrice = z.infer<typeof ModelPrice>;

export const ProviderSettings = z.strictObject({
  kind: z
    .enum(['anthropic', 'openai', 'google', 'openai-compatible', 'scripted'])
    .optional()
    .describe('the interface it speaks; default: its own name, else openai-compatible'),
  base_url: z
    .url({ protocol: /^https?$/, error: 'an address of http or https', abort: true })
    .refine((url) => {
      const { username, password } = new URL(url);
      return username === '' && password === '';
    }, 'it must not contain a user name and password: name a variable in api_key_variable')
    .refine(
      (url) => new URL(url).search === '',
      'it must not contain a query (?…), which may hold a key: name a variable in api_key_variable',
    )
    .optional()
    .describe('address of its interface, such as http://localhost:11434/v1'),
  api_key_variable: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of a variable: letters, digits and "_"')
    .optional()
    .describe('the environment variable that holds the key'),
  stream: z.boolean().optional().describe('request replies as a stream; default: true'),
  concurrent: z.int().min(1).max(1000).optional().describe('maximum number of concurrent calls; default: 8'),
  requests_per_minute: z
    .number()
    .positive()
    .optional()
    .describe('maximum number of calls started per minute; default: no limit'),
  stall_seconds: z
    .number()
    .positive()
    .optional()
    .describe('a reply that sends nothing for this long is abandoned; default: 120'),
  attempts: z.int().min(1).max(100).optional().describe('how often one call is tried; default: 8'),
});
export type ProviderSettings = z.infer<typeof ProviderSettings>;
