import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

const startMs = 60_000;

/** A marker that says that a command's sandbox is ready; nobody inside can guess it. */
export function newMarker(): string {
  return `sandbox-stands-${randomBytes(8).toString('hex')}`;
}

/** Null when the marker was read; otherwise what was printed instead. */
export async function waitForMarker(said: Readable, marker: string): Promise<string | null> {
  const timer = new AbortController();
  const late = sleep(startMs, `it did not start within ${startMs / 1000} seconds`, {
    signal: timer.signal,
    ref: false,
  }).catch(() => '');
  const outcome = await Promise.race([findMarker(said, marker), late]);
  timer.abort();
  return outcome;
}

/** Null, or the whole text. */
function findMarker(stream: Readable, marker: string): Promise<string | null> {
  return new Promise((resolve) => {
    let text = '';
    stream.setEncoding('utf8');
    stream.on('data', (part: string) => {
      if (text.length < 20_000) text += part;
      if (text.includes(marker)) resolve(null);
    });
    stream.once('close', () => resolve(text.trim()));
    stream.once('error', () => resolve(text.trim()));
  });
}
