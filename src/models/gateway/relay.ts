import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { EventBlocks } from './event-blocks.ts';
import type { ReplyTap } from './reply-tap.ts';
import { SecretFilter } from './secret-filter.ts';

export interface RelayOptions {
  /** Removed wherever it occurs. */
  secret: string | null;
  tap: ReplyTap;
  /** Whether an event is hidden from the program; absent: none is. */
  hides?: (event: Buffer) => boolean;
  /** How long the program may leave received data unread, in all. */
  unreadMs: number;
  /** Called when something arrived. */
  onPiece: () => void;
  /** Called with what was passed on. */
  onPassed: (piece: Buffer) => void;
}

/**
 * Passes the body of a reply on, each piece as it arrives, without ending it.
 * @throws the error of the connection to the provider
 */
export async function relay(
  incoming: IncomingMessage,
  response: ServerResponse,
  { secret, tap, hides, unreadMs, onPiece, onPassed }: RelayOptions,
): Promise<void> {
  const filter = new SecretFilter(secret);
  const blocks = new EventBlocks();
  let unreadLeftMs = unreadMs;
  const write = async (piece: Buffer) => {
    if (piece.length === 0 || response.destroyed) return;
    onPassed(piece);
    if (!response.write(piece)) unreadLeftMs -= await drained(response, unreadLeftMs);
  };
  const pass = async (piece: Buffer) => {
    // The piece is sent on before the tap reads it.
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

/**
 * A program that reads nothing, or too little at a time, thereby closes the connection: otherwise it could stop the
 * run's clock for as long as it likes.
 * @returns how long it took
 */
async function drained(response: ServerResponse, unreadMs: number): Promise<number> {
  const start = performance.now();
  const done = new AbortController();
  const timer = setTimeout(() => response.destroy(), unreadMs);
  try {
    await Promise.race(['drain', 'close'].map((event) => once(response, event, { signal: done.signal })));
  } finally {
    clearTimeout(timer);
    done.abort();
  }
  return performance.now() - start;
}
