import { closeSync, mkdirSync, openSync, readSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../lib/errors.ts';
import { sha256OfFile } from '../lib/hash.ts';
import { attemptDownload, type DownloadAttempt } from './download-attempt.ts';
import { explainNetworkError, explainStatus } from './download-failure.ts';
import type { DownloadRequest, DownloadTiming } from './download-request.ts';
import { PartialFile } from './partial-file.ts';

const defaultTiming: DownloadTiming = {
  attempts: 6,
  pauseMs: 1000,
  pauseMaxMs: 30_000,
  retryAfterMaxMs: 300_000,
  stallMs: 60_000,
};

/**
 * Downloads a file, resuming an earlier attempt, and returns its SHA-256, which the caller checks. The destination
 * appears only when it is complete. If the checksum of a resumed file is wrong, the file is first downloaded once more
 * from the start.
 * @throws UserError if the download fails; the signal's reason if aborted (the partial file stays, to be resumed
 *   later).
 */
export async function download(request: DownloadRequest): Promise<string> {
  mkdirSync(dirname(request.destination), { recursive: true });
  const part = new PartialFile(request.destination);
  let resumed = await fetchWhole(request, part);
  let digest = await sha256OfFile(part.path);
  if (resumed && request.sha256 && digest !== request.sha256) {
    part.discard();
    resumed = await fetchWhole(request, part);
    digest = await sha256OfFile(part.path);
  }
  refuseHtml(request, part);
  renameSync(part.path, request.destination);
  part.discard();
  return digest;
}

/** Whether any of it was resumed. */
async function fetchWhole(request: DownloadRequest, part: PartialFile): Promise<boolean> {
  const timing = { ...defaultTiming, ...request.timing };
  let failures = 0;
  let resumed = false;
  for (;;) {
    request.signal?.throwIfAborted();
    const before = part.size();
    if (isWhole(request, part)) return true;
    const attempt = await attemptDownload(request, part, timing.stallMs);
    resumed ||= attempt.resumed;
    if (attempt.ending === 'done') return resumed;
    request.signal?.throwIfAborted();
    failures = part.size() > before ? 1 : failures + 1;
    if (failures >= timing.attempts || !isWorthRetrying(attempt)) throw explainAttempt(request, attempt);
    const pauseMs = pause(attempt, failures, timing, request);
    request.onRetry?.(explainAttempt(request, attempt).message, pauseMs);
    await sleep(pauseMs, undefined, signalOption(request.signal));
  }
}

/** An earlier process may have ended between the last byte and the renaming. The checksum will show. */
function isWhole(request: DownloadRequest, part: PartialFile): boolean {
  const origin = part.origin();
  return Boolean(request.sha256) && origin?.url === request.url && origin.total === part.size();
}

function isWorthRetrying(attempt: Failed): boolean {
  if (attempt.ending === 'refused') return false;
  if (attempt.ending === 'broken') return true;
  return [408, 416, 425, 429, 500, 502, 503, 504].includes(attempt.status);
}

type Failed = Exclude<DownloadAttempt, { ending: 'done' }>;

function explainAttempt(request: DownloadRequest, attempt: Failed): UserError {
  if (attempt.ending === 'refused') return attempt.error;
  if (attempt.ending === 'broken') return explainNetworkError(request.url, attempt.error);
  return request.explain?.(attempt.status) ?? explainStatus(request.url, attempt.status);
}

function pause(attempt: Failed, failures: number, timing: DownloadTiming, request: DownloadRequest): number {
  if (attempt.ending === 'status' && attempt.retryAfterMs !== null) {
    if (attempt.retryAfterMs > timing.retryAfterMaxMs) throw explainAttempt(request, attempt);
    return attempt.retryAfterMs;
  }
  // Half fixed, half random, so that runs that failed together do not retry together.
  const longest = Math.min(timing.pauseMs * 2 ** (failures - 1), timing.pauseMaxMs);
  return longest * (0.5 + Math.random() / 2);
}

function signalOption(signal: AbortSignal | null | undefined): { signal?: AbortSignal } {
  return signal ? { signal } : {};
}

/** A login or error page with status 200 is the most common wrong file. */
function refuseHtml(request: DownloadRequest, part: PartialFile): void {
  if (/\.html?$/i.test(request.destination)) return;
  const head = firstBytes(part.path, 512).toString('latin1').trimStart().toLowerCase();
  if (!head.startsWith('<!doctype html') && !head.startsWith('<html')) return;
  part.discard();
  throw new UserError(
    'html_page',
    `${request.url} returned a web page instead of the file`,
    'open the address in a browser: it may need a login, or the file has moved; --mirror takes a file that you downloaded yourself',
  );
}

function firstBytes(path: string, count: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(count);
    return buffer.subarray(0, readSync(file, buffer, 0, count, 0));
  } finally {
    closeSync(file);
  }
}
