import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { EventBlocks } from './event-blocks.ts';
import type { ReplyTap } from './reply-tap.ts';
import { SecretFilter } from './secret-filter.ts';

/** How long a stream may be silent before the dialect's sign of life is sent. */
export const keepAliveMs = 30_000;

export interface RelayOptions {
  /** Taken out wherever it stands. */
  secret: string | null;
  tap: ReplyTap;
  /** What says in a stream that nothing has happened; null: the reply is no stream. */
  keepAlive: string | null;
  /** Whether an event is kept from the program; absent: none is. */
  hides?: (event: Buffer) => boolean;
  /** After so much silence of the provider `onStall` is called. */
  stallMs: number;
  onStall: () => void;
}

/**
 * Passes a reply on, each piece as it comes.
 * @throws what the connection to the provider failed with
 */
export async function relay(
  incoming: IncomingMessage,
  response: ServerResponse,
  { secret, tap, keepAlive, hides, stallMs, onStall }: RelayOptions,
): Promise<void> {
  const filter = new SecretFilter(secret);
  const blocks = hides === undefined ? null : new EventBlocks();
  let isBetweenEvents = true;
  const silence = setInterval(() => {
    if (keepAlive !== null && isBetweenEvents && !response.destroyed) response.write(keepAlive);
  }, keepAliveMs);
  const stall = setTimeout(onStall, stallMs);
  const write = async (piece: Buffer) => {
    if (piece.length === 0 || response.destroyed) return;
    isBetweenEvents = /(\n\n|\r\r|\r\n\r\n)$/.test(piece.subarray(-4).toString('latin1'));
    silence.refresh();
    if (!response.write(piece)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
  };
  const pass = async (bytes: Buffer) => {
    tap.add(bytes);
    if (blocks === null || hides === undefined) return write(bytes);
    for (const block of blocks.add(bytes)) if (!hides(block)) await write(block);
  };
  try {
    for await (const piece of incoming) {
      stall.refresh();
      await pass(filter.pass(piece as Buffer));
    }
    await pass(filter.end());
    if (blocks !== null) await write(blocks.end());
  } finally {
    clearInterval(silence);
    clearTimeout(stall);
  }
}
