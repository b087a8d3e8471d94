import type { ModelAnswer, ModelMessage, ModelRequest, TokenUsage } from '../schema/index.ts';
import type { ProviderRequest } from './provider-adapter.ts';

/** Tokens that mark the beginning, the end and the role of one message; providers use 3 to 8. */
const messageFrame = 16;

/** Tokens with which providers introduce tools: Anthropic's own text has some 350 to 700. */
const toolsFrame = 1024;

/** UTF-8 bytes per token in English text and code, at the low end: 4 is the usual rule of thumb. */
const bytesPerToken = 3;

/**
 * The sizes of messages and tools in bytes. Conversations are measured several times per call, and recur in the next: the
 * objects never change.
 */
export type KnownSizes = WeakMap<object, number>;

/**
 * An upper bound on the tokens of a request. Tokenizers of today's models fall back to single bytes, so every token
 * stands for at least one byte of UTF-8, and a text has at most as many tokens as bytes. English text has a fourth of
 * them, so the actual number is far lower.
 */
export function maxInputTokens(
  { messages, tools = [] }: ModelRequest,
  known: KnownSizes = new WeakMap(),
): number {
  const sizeOf = <Part extends object>(part: Part, measure: (part: Part) => number) => {
    const size = known.get(part) ?? measure(part);
    known.set(part, size);
    return size + messageFrame;
  };
  const texts = messages.reduce((sum, message) => sum + sizeOf(message, messageBytes), 0);
  const introduction = tools.length === 0 ? 0 : toolsFrame;
  return texts + introduction + tools.reduce((sum, tool) => sum + sizeOf(tool, jsonBytes), 0);
}

/** The same for a body in a provider's own format. */
export function maxTokensOfBody(bytes: number, hasTools: boolean): number {
  return bytes + (hasTools ? toolsFrame : 0);
}

type AskedOfProvider = Pick<ProviderRequest, 'messages' | 'tools' | 'maxOutputTokens'>;

/** The probable usage of a call, for providers that do not report it. A request that was too long was not read. */
export function probableUsage(request: AskedOfProvider, answer: ModelAnswer): TokenUsage {
  const usage = usageForOutput(request, answerBytes(answer));
  return answer.kind === 'context_too_long' ? { ...usage, input: 0 } : usage;
}

/** The probable usage of a call with a reply of this many bytes, limited to what it can have. */
export function usageForOutput(
  { messages, tools, maxOutputTokens }: AskedOfProvider,
  bytes: number,
): TokenUsage {
  const read =
    messages.reduce((sum, message) => sum + messageBytes(message), 0) +
    tools.reduce((sum, tool) => sum + jsonBytes(tool), 0);
  return usageOfBytes({ read, written: bytes }, maxOutputTokens);
}

/** The probable usage of a call with this many bytes of input and output. */
export function usageOfBytes(
  { read, written }: { read: number; written: number },
  maxOutputTokens: number,
): TokenUsage {
  return {
    input: Math.ceil(read / bytesPerToken),
    cached_input: 0,
    cache_write: 0,
    output: Math.min(Math.ceil(written / bytesPerToken), maxOutputTokens),
    reasoning: 0,
    source: 'estimate',
  };
}

function messageBytes(message: ModelMessage): number {
  if (message.role === 'assistant') {
    const { text, tool_calls = [], provider } = message;
    const more = provider === undefined ? 0 : jsonBytes(provider);
    return bytes(text) + more + tool_calls.reduce((sum, call) => sum + jsonBytes(call) + messageFrame, 0);
  }
  if (message.role === 'tool') return bytes(message.text) + bytes(message.name) + bytes(message.call_id);
  return bytes(message.text);
}

/** The size of a model's output, in bytes. */
export function answerBytes(answer: ModelAnswer): number {
  if (answer.kind === 'context_too_long') return 0;
  if (answer.kind === 'refused') return bytes(answer.message);
  return bytes(answer.text) + answer.tool_calls.reduce((sum, call) => sum + jsonBytes(call), 0);
}

function jsonBytes(value: unknown): number {
  return bytes(JSON.stringify(value) ?? '');
}

function bytes(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}
