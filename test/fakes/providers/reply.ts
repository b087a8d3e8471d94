/** A reply as a test describes it; each format translates it. */
export interface FakeReply {
  text?: string;
  toolCalls?: FakeToolCall[];
  /** The model's refusal; OpenAI has a separate field for it. Sets `finish`. */
  refusal?: string;
  /** The model's reasoning; signed if the format has signatures. */
  reasoning?: string;
  /** Null: the server reports no usage. */
  usage?: FakeUsage | null;
  /** Default: `tool_calls` if there are any, otherwise `stop`. */
  finish?: 'stop' | 'length' | 'tool_calls' | 'refused' | 'context_full';
  /** The model that the reply names; default: the requested one. */
  model?: string;
}

export interface FakeToolCall {
  id?: string;
  name: string;
  /** The arguments as the model wrote them, normally JSON. */
  input: string;
}

/** Tokens. `cachedInput` and `cacheWrite` are parts of `input`, `reasoning` is a part of `output`. */
export interface FakeUsage {
  input: number;
  output: number;
  cachedInput?: number;
  cacheWrite?: number;
  reasoning?: number;
  /** Where a format has it; default: `input` and `output`. */
  total?: number;
}

/** A reply with all defaults filled in. */
export interface CompleteReply {
  text: string;
  refusal: string;
  toolCalls: Required<FakeToolCall>[];
  reasoning: string;
  usage: Required<FakeUsage> | null;
  finish: NonNullable<FakeReply['finish']>;
  model: string;
}

const noUsage = { cachedInput: 0, cacheWrite: 0, reasoning: 0 };

export function completeReply(reply: FakeReply, model: string): CompleteReply {
  const toolCalls = (reply.toolCalls ?? []).map((call, index) => ({ id: `call_${index + 1}`, ...call }));
  const usage = reply.usage === undefined ? { input: 100, output: 10 } : reply.usage;
  return {
    text: reply.text ?? '',
    refusal: reply.refusal ?? '',
    toolCalls,
    reasoning: reply.reasoning ?? '',
    usage: usage === null ? null : { ...noUsage, total: usage.input + usage.output, ...usage },
    finish: reply.finish ?? (reply.refusal ? 'refused' : toolCalls.length > 0 ? 'tool_calls' : 'stop'),
    model: reply.model ?? model,
  };
}

/** What a server needs to speak one provider's format. */
export interface Format {
  /** The model and the mode of a request with this path and body; null if it is not of this format. */
  read(path: string, body: unknown): { model: string; isStreaming: boolean } | null;
  /** The whole reply as one JSON value. */
  json(reply: CompleteReply): unknown;
  /** The reply as server-sent events, each as it is sent. */
  events(reply: CompleteReply): string[];
  /** The body of an error. */
  error(status: number, message: string): unknown;
  /** The event for an overload in the middle of a stream. */
  overloadEvent(): string;
}

/** The reply for a format without a separate field for refusals. */
export function withoutRefusal(reply: CompleteReply): CompleteReply {
  return { ...reply, text: reply.text + reply.refusal, refusal: '' };
}

export function dataEvent(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/** The text in pieces of a few characters, as a model streams it. */
export function pieces(text: string, length = 7): string[] {
  return text.match(new RegExp(`[\\s\\S]{1,${length}}`, 'g')) ?? [];
}
