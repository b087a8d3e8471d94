import { z } from 'zod';
import { parseShallowJson } from '../../lib/shallow-json.ts';
import { Json, type ModelAnswer, type TokenUsage, type ToolCall } from '../../schema/index.ts';
import type { ProviderReply } from '../provider-adapter.ts';
import type { ModelAddress, OwnForm, OwnPart } from './prompt.ts';
import {
  type FinishReason,
  IncompleteReply,
  isEnd,
  type Metadata,
  type Received,
  type ReplyContent,
} from './receive.ts';

/**
 * The answer in the received reply.
 * @throws IncompleteReply if there is none
 */
export function toReply(address: ModelAddress, received: Received, stop: readonly string[]): ProviderReply {
  const { content, finishReason, answeredBy } = received;
  const usage = toUsage(received.usage);
  // Some servers count only a part.
  const isUncounted = usage?.output === 0 && content.some((part) => part.type !== 'text' || part.text !== '');
  return {
    answer: toAnswer(address, content, finishReason, stop),
    answeredBy,
    usage: isUncounted ? null : usage,
  };
}

function toAnswer(
  address: ModelAddress,
  content: ReplyContent,
  { unified, raw }: FinishReason,
  stop: readonly string[],
): ModelAnswer {
  const written = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  const toolCalls = content.flatMap((part) => (part.type === 'tool-call' ? [toToolCall(part)] : []));
  if (unified === 'content-filter')
    return {
      kind: 'refused',
      message: written || `declined because of the content (${raw ?? 'no reason given'})`,
    };
  if (raw === 'model_context_window_exceeded')
    return { kind: 'context_too_long', message: 'the reply filled up what the model can read' };
  if (unified === 'error')
    throw new IncompleteReply(
      'malformed',
      `the model's reply could not be used (${raw ?? 'no reason given'})`,
    );
  // A model may return an empty reply, which is charged. If it does not even report an end, the reply came from
  // something else.
  if (written.trim() === '' && toolCalls.length === 0 && !isEnd({ unified, raw }))
    throw new IncompleteReply('malformed', 'the reply holds neither text nor a call of a tool');

  const text = cutAt(written, stop);
  const isCut = text !== written;
  const own = isCut ? null : ownForm(address, content);
  return {
    kind: 'answered',
    text,
    tool_calls: toolCalls,
    finish: toFinish(unified, isCut, toolCalls.length > 0),
    ...(own === null ? {} : { provider: Json.parse(own) }),
  };
}

function toFinish(unified: FinishReason['unified'], isCut: boolean, hasCalls: boolean) {
  if (hasCalls && unified !== 'length') return 'tool_calls';
  if (isCut) return 'stop';
  return unified === 'stop' || unified === 'length' ? unified : 'other';
}

/** Not every interface ends replies at given texts (Responses does not), and not every server that should does. */
function cutAt(text: string, stop: readonly string[]): string {
  const places = stop
    .filter((mark) => mark !== '')
    .map((mark) => text.indexOf(mark))
    .filter((place) => place >= 0);
  return text.slice(0, Math.min(text.length, ...places));
}

function toToolCall(part: { toolCallId: string; toolName: string; input: string }): ToolCall {
  return { id: part.toolCallId, name: part.toolName, input: parseInput(part.input) };
}

/** Models write nothing for "no arguments". Text that is not JSON stays as it is. */
function parseInput(text: string): ToolCall['input'] {
  if (text.trim() === '') return {};
  try {
    return Json.parse(parseShallowJson(text));
  } catch {
    return text;
  }
}

/** What the provider must get back to continue the conversation; null if text and calls are enough. */
function ownForm(address: ModelAddress, content: ReplyContent): OwnForm | null {
  const { kind } = address;
  const hasCalls = content.some((part) => part.type === 'tool-call');
  const isNeeded = content.some((part) => {
    // Servers differ on unsigned reasoning: some refuse it, some want it between the calls of tools.
    if (kind === 'openai-compatible') return part.type === 'reasoning' && hasCalls;
    // Google signs texts and calls, too.
    return (part.type === 'reasoning' || kind === 'google') && part.providerMetadata !== undefined;
  });
  return isNeeded ? { kind, model: address.model, content: content.flatMap(toOwnPart) } : null;
}

function toOwnPart(part: ReplyContent[number]): OwnPart[] {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return [withOptions({ type: part.type, text: part.text }, part.providerMetadata)];
    case 'tool-call': {
      const { toolCallId, toolName, input } = part;
      return [
        withOptions(
          { type: 'tool-call', toolCallId, toolName, input: parseInput(input) },
          part.providerMetadata,
        ),
      ];
    }
    default:
      return [];
  }
}

const PartOptions = z.record(z.string(), z.record(z.string(), Json));

function withOptions(part: OwnPart, metadata: Metadata): OwnPart {
  // The metadata contains `undefined` in places, which JSON drops.
  const options = PartOptions.safeParse(JSON.parse(JSON.stringify(metadata ?? null)));
  return options.success ? { ...part, providerOptions: options.data } : part;
}

/** No call has more; a limit keeps sums of a server's made-up counts safe integers. */
const maxTokens = 1e9;

/** The provider's own counts; null if it gave none, or none that can be: no request is empty. */
export function toUsage({ inputTokens, outputTokens, raw }: Received['usage']): TokenUsage | null {
  if (inputTokens.total === undefined || outputTokens.total === undefined) return null;
  const input = count(inputTokens.total);
  if (input === 0) return null;
  // Some servers count reasoning in the total alone.
  const all = typeof raw?.total_tokens === 'number' ? raw.total_tokens : 0;
  const output = Math.max(count(outputTokens.total), count(all - input));
  const cached = Math.min(count(inputTokens.cacheRead), input);
  return {
    input,
    cached_input: cached,
    cache_write: Math.min(count(inputTokens.cacheWrite), input - cached),
    output,
    reasoning: Math.min(count(outputTokens.reasoning), output),
    source: 'provider',
  };
}

function count(value: number | undefined): number {
  return value === undefined || Number.isNaN(value) ? 0 : Math.min(Math.max(0, Math.round(value)), maxTokens);
}
