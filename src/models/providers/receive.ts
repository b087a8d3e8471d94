import { z } from 'zod';
import { ownTurn } from '../../lib/own-turn.ts';
import type { ProviderResult, ProviderStream } from './provider-model.ts';

export type ReplyContent = ProviderResult['content'];
export type FinishReason = ProviderResult['finishReason'];
export type Metadata = Extract<ReplyContent[number], { type: 'text' }>['providerMetadata'];

/** The complete reply to one request. */
export interface Received {
  content: ReplyContent;
  finishReason: FinishReason;
  usage: ProviderResult['usage'];
  /** The provider's name for the model that answered; null if it gave none. */
  answeredBy: string | null;
}

/** The part of a reply that has arrived, even if it ends early: it is charged. */
export interface Arrived {
  hasBegun: boolean;
  /** Of everything that the model wrote, including its reasoning and the arguments of tools. */
  bytes: number;
  /** Null until the provider reports it. */
  usage: ProviderResult['usage'] | null;
}

export function nothingArrived(): Arrived {
  return { hasBegun: false, bytes: 0, usage: null };
}

/** The reply is incomplete: it was cut off, or is empty. */
export class IncompleteReply extends Error {
  override readonly name = 'IncompleteReply';
  readonly failure: 'connection' | 'malformed';

  constructor(failure: IncompleteReply['failure'], message: string) {
    super(message);
    this.failure = failure;
  }
}

/** The provider reported an error within a stream. The cause is its package's representation, often not an `Error`. */
export class StreamedError extends Error {
  override readonly name = 'StreamedError';
}

export function receiveResult(result: ProviderResult): Received {
  const { content, finishReason, usage, response } = result;
  return { content, finishReason, usage, answeredBy: response?.modelId ?? modelVersion(response?.body) };
}

/**
 * A server may send thousands of chunks at once, and each costs some ten microseconds in the provider's package. After
 * this many, everything else gets a turn, such as the replies of other runs.
 */
const piecesOfTurn = 4;

/**
 * Reads a stream to its end.
 * @param arrived is kept up to date
 * @throws StreamedError, IncompleteReply
 */
export async function receiveStream(
  stream: ProviderStream,
  arrived: Arrived = nothingArrived(),
): Promise<Received> {
  const blocks = createBlocks();
  let answeredBy: string | null = null;
  let pieces = 0;
  for await (const part of stream) {
    pieces += 1;
    if (pieces % piecesOfTurn === 0) await ownTurn();
    if ('delta' in part) arrived.bytes += Buffer.byteLength(part.delta);
    switch (part.type) {
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        blocks.add('text', part);
        break;
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        blocks.add('reasoning', part);
        break;
      case 'tool-call':
        blocks.content.push(part);
        break;
      case 'response-metadata':
        answeredBy = part.modelId ?? answeredBy;
        break;
      case 'raw':
        answeredBy ??= modelVersion(part.rawValue);
        break;
      case 'error':
        if (part.error instanceof Error && part.error.message === unfinished) throw endedEarly(arrived);
        throw new StreamedError('the provider reported an error', { cause: part.error });
      case 'finish':
        arrived.usage = part.usage;
        if (!isEnd(part.finishReason)) throw endedEarly(arrived);
        // What the reply leads to takes milliseconds: the agent's next step.
        await ownTurn();
        return { content: blocks.content, finishReason: part.finishReason, usage: part.usage, answeredBy };
    }
    if (part.type !== 'stream-start') arrived.hasBegun = true;
  }
  throw endedEarly(arrived);
}

interface Piece {
  id: string;
  delta?: string;
  providerMetadata?: Metadata;
}

interface Block {
  type: 'text' | 'reasoning';
  text: string;
  providerMetadata?: NonNullable<Metadata>;
}

/**
 * Texts and reasoning arrive in chunks, several of them interleaved; `content` has them in the order in which they
 * began.
 */
function createBlocks() {
  const content: ReplyContent = [];
  const open = new Map<string, Block>();
  return {
    content,
    add(type: 'text' | 'reasoning', { id, delta, providerMetadata }: Piece) {
      const block: Block = open.get(`${type} ${id}`) ?? { type, text: '' };
      if (!open.has(`${type} ${id}`)) content.push(block);
      open.set(`${type} ${id}`, block);
      block.text += delta ?? '';
      if (providerMetadata !== undefined) block.providerMetadata = providerMetadata;
    },
  };
}

/** Only Google names the model that answered in a place that its package does not read. */
const GoogleReply = z.object({ modelVersion: z.string() });

function modelVersion(reply: unknown): string | null {
  return GoogleReply.safeParse(reply).data?.modelVersion ?? null;
}

/**
 * Whether the provider itself ended the reply. It then gives a reason, except Responses, which gives none on success.
 * The packages also finish a stream that was cut off, with their own reason.
 */
export function isEnd({ unified, raw }: FinishReason): boolean {
  return raw !== undefined || ['stop', 'tool-calls', 'content-filter'].includes(unified);
}

/** The message of the package for OpenAI-compatible servers in a case in which the others report nothing. */
const unfinished = 'Response stream ended without a finish reason.';

function endedEarly({ hasBegun }: Arrived): IncompleteReply {
  return hasBegun
    ? new IncompleteReply('connection', 'the reply ended in the middle')
    : new IncompleteReply('malformed', 'the reply was empty, or not in the form of this interface');
}
