import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import type { ModelAnswer, TokenUsage, ToolCall } from '../../schema/index.ts';
import type { WireReply } from '../wire.ts';
import type { ModelAddress, OwnForm, OwnPart } from './prompt.ts';
import type { ProviderResult, ProviderStream } from './provider-model.ts';

type Content = ProviderResult['content'];
type FinishReason = ProviderResult['finishReason'];
type Usage = ProviderResult['usage'];
type Metadata = Extract<Content[number], { type: 'text' }>['providerMetadata'];

/** What came for one request, put together. */
export interface Received {
  content: Content;
  finishReason: FinishReason;
  usage: Usage;
  answeredBy: string | null;
}

/** The reply was not one: it was cut off, or holds nothing. */
export class IncompleteReply extends Error {
  override readonly name = 'IncompleteReply';
  readonly failure: 'connection' | 'malformed';

  constructor(failure: IncompleteReply['failure'], message: string) {
    super(message);
    this.failure = failure;
  }
}

/** The provider reported an error within a stream. */
export class StreamedError extends Error {
  override readonly name = 'StreamedError';
}

/**
 * A server may send thousands of pieces at once, and each costs some ten microseconds in the provider's package. After
 * so many of them everything else has its turn, the replies of other runs among it.
 */
const piecesOfTurn = 16;

/**
 * Reads a stream to its end.
 * @throws StreamedError, whose cause is what the provider's package made of the error; IncompleteReply
 */
export async function receiveStream(stream: ProviderStream): Promise<Received> {
  const blocks = new Map<string, { type: 'text' | 'reasoning'; text: string; providerMetadata?: Metadata }>();
  const content: Content = [];
  let answeredBy: string | null = null;
  let hasPieces = false;
  let pieces = 0;
  for await (const part of stream) {
    pieces += 1;
    if (pieces % piecesOfTurn === 0) await nextTurn();
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start': {
        const block = {
          type: part.type === 'text-start' ? ('text' as const) : ('reasoning' as const),
          text: '',
        };
        blocks.set(`${block.type} ${part.id}`, withMetadata(block, part.providerMetadata));
        content.push(blocks.get(`${block.type} ${part.id}`) ?? block);
        break;
      }
      case 'text-delta':
      case 'text-end':
      case 'reasoning-delta':
      case 'reasoning-end': {
        const block = blocks.get(`${part.type.startsWith('text') ? 'text' : 'reasoning'} ${part.id}`);
        if (block === undefined) break;
        if ('delta' in part) block.text += part.delta;
        if (part.providerMetadata !== undefined) block.providerMetadata = part.providerMetadata;
        break;
      }
      case 'tool-call':
        content.push(part);
        break;
      case 'response-metadata':
        answeredBy = part.modelId ?? answeredBy;
        break;
      case 'raw':
        answeredBy ??= GoogleChunk.safeParse(part.rawValue).data?.modelVersion ?? null;
        break;
      case 'error':
        if (part.error instanceof Error && part.error.message === unfinished) throw endedEarly(hasPieces);
        throw new StreamedError('the provider reported an error', { cause: part.error });
      case 'finish':
        if (part.finishReason.unified === 'other' && part.finishReason.raw === undefined)
          throw endedEarly(hasPieces);
        return { content, finishReason: part.finishReason, usage: part.usage, answeredBy };
    }
    if (part.type !== 'stream-start') hasPieces = true;
  }
  throw endedEarly(hasPieces);
}

/** Google alone names the model that answered in a place that its package does not read. */
const GoogleChunk = z.object({ modelVersion: z.string() });

/** What the package for OpenAI-compatible servers says where the others say nothing. */
const unfinished = 'Response stream ended without a finish reason.';

function endedEarly(hasPieces: boolean): IncompleteReply {
  return hasPieces
    ? new IncompleteReply('connection', 'the reply ended in the middle')
    : new IncompleteReply('malformed', 'the reply was empty, or not in the form of this interface');
}

export function receiveResult(result: ProviderResult): Received {
  const { content, finishReason, usage, response } = result;
  const answeredBy = response?.modelId ?? GoogleChunk.safeParse(response?.body).data?.modelVersion ?? null;
  return { content, finishReason, usage, answeredBy };
}

/**
 * The answer in what came.
 * @throws IncompleteReply where there is none
 */
export function toReply(address: ModelAddress, received: Received, stop: readonly string[]): WireReply {
  const { content, finishReason, answeredBy } = received;
  return {
    answer: toAnswer(address, content, finishReason, stop),
    answeredBy,
    usage: toUsage(received.usage),
  };
}

function toAnswer(
  address: ModelAddress,
  content: Content,
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
  // A reply that ends at a stop text, or at its limit while the model still reasons, is rightly empty.
  if (written.trim() === '' && toolCalls.length === 0 && unified !== 'length' && raw !== 'stop_sequence')
    throw new IncompleteReply('malformed', 'the reply holds neither text nor a call of a tool');

  const text = cutAt(written, stop);
  const isCut = text !== written;
  const own = isCut ? null : ownForm(address, content);
  return {
    kind: 'answered',
    text,
    tool_calls: toolCalls,
    finish: toFinish(unified, isCut, toolCalls.length > 0),
    ...(own === null ? {} : { provider: z.json().parse(own) }),
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

/** Models write nothing at all for "no arguments". What is no JSON stays the text it is. */
function parseInput(text: string): ToolCall['input'] {
  if (text.trim() === '') return {};
  try {
    return z.json().parse(JSON.parse(text));
  } catch {
    return text;
  }
}

/** What the provider must get back to go on where it was; null where text and calls say it all. */
function ownForm(address: ModelAddress, content: Content): OwnForm | null {
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

function toOwnPart(part: Content[number]): OwnPart[] {
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

const PartOptions = z.record(z.string(), z.record(z.string(), z.json()));

function withOptions(part: OwnPart, metadata: Metadata): OwnPart {
  // The metadata is JSON with `undefined` here and there, which JSON does not keep.
  const options = PartOptions.safeParse(JSON.parse(JSON.stringify(metadata ?? null)));
  return options.success ? { ...part, providerOptions: options.data } : part;
}

function withMetadata<Block extends object>(block: Block, providerMetadata: Metadata) {
  return providerMetadata === undefined ? block : { ...block, providerMetadata };
}

/** The provider's own counts; null where it gave none. */
function toUsage({ inputTokens, outputTokens }: Usage): TokenUsage | null {
  if (inputTokens.total === undefined || outputTokens.total === undefined) return null;
  const [input, output] = [count(inputTokens.total), count(outputTokens.total)];
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
  return value === undefined || !Number.isFinite(value) ? 0 : Math.max(0, Math.round(value));
}
