import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { EventBlocks } from './event-blocks.ts';
import type { ReplyTap } from './reply-tap.ts';
import { SecretFilter } from './secret-filter.ts';

export interface RelayOptions {
  /** Taken out wherever it stands. */
  secret: string | null;
  tap: ReplyTap;
  /** Whether an event is kept from the program; absent: none is. */
  hides?: (event: Buffer) => boolean;
  /** How long the program may leave what came unread. */
  unreadMs: number;
  /** Told that something came. */
  onPiece: () => void;
  /** Told of what was passed on. */
  onPassed: (piece: Buffer) => void;
}

/**
 * Passes the body of a reply on, each piece as it comes, without ending it.
 * @throws what the connection to the provider failed with
 */
export async function relay(
  incoming: IncomingMessage,
  response: ServerResponse,
  { secret, tap, hides, unreadMs, onPiece, onPassed }: RelayOptions,
): Promise<void> {
  const filter = new SecretFilter(secret);
  const blocks = new EventBlocks();
  const write = async (piece: Buffer) => {
    if (piece.length === 0 || response.destroyed) return;
    onPassed(piece);
    if (!response.write(piece)) await drained(response, unreadMs);
  };
  const pass = async (piece: Buffer) => {
    // What is read of it may wait until it is on its way.
    if (hides === undefined) await write(piece);
    else for (const event of blocks.add(piece)) if (!hides(event)) await write(event);
    tap.add(piece);
  };
  for await (const piece of incoming) {
    onPiece();
    await pass(filter.pass(piece as Buffer));
  }
  await pass(filter.end());
  await write(blocks.end());
}

/** A program that reads nothing closes the connection by that: else the run's clock stood still for as long as it likes. */
async function drained(response: ServerResponse, unreadMs: number): Promise<void> {
  const done = new AbortController();
  const timer = setTimeout(() => response.destroy(), unreadMs);
  try {
    await Promise.race(['drain', 'close'].map((event) => once(response, event, { signal: done.signal })));
  } finally {
    clearTimeout(timer);
    done.abort();
  }
}
