import { open, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasCode, messageOf, UserError } from '../lib/errors.ts';
import { diskFull } from './download-failure.ts';
import type { DownloadRequest } from './download-request.ts';
import { requestFollowing } from './follow-redirects.ts';
import type { Origin, PartialFile } from './partial-file.ts';

/** How one connection ended. */
export type DownloadAttempt = { resumed: boolean } & (
  | { ending: 'done' }
  /** The connection was cut, stalled or never established. */
  | { ending: 'broken'; error: unknown }
  | { ending: 'status'; status: number; retryAfterMs: number | null }
  /** Another try would end the same way. */
  | { ending: 'refused'; error: UserError }
);

/** Opens one connection, requests the missing part and appends it to the partial file. Never rejects. */
export async function attemptDownload(
  request: DownloadRequest,
  part: PartialFile,
  stallMs: number,
): Promise<DownloadAttempt> {
  const watch = new StallWatch(stallMs, request.signal ?? null);
  const from = resumePoint(request, part);
  let resumed = false;
  try {
    const headers = from === null ? {} : rangeHeaders(from.offset, from.origin);
    const response = await requestFollowing(request, headers, watch.signal);
    watch.touch();
    if (response.status === 416) part.discard();
    if (response.status !== 200 && response.status !== 206) {
      await response.body?.cancel();
      return { ending: 'status', status: response.status, retryAfterMs: retryAfter(response), resumed };
    }
    resumed = from !== null && continues(response, from.offset, from.origin);
    if (response.status === 206 && !resumed) {
      // The part does not match ours: the next request starts over.
      await response.body?.cancel();
      part.discard();
      return { ending: 'broken', error: new Error('the file changed on the server'), resumed };
    }
    const total = totalBytes(response, resumed ? (from?.offset ?? 0) : 0);
    await refuseSize(request, total, resumed ? (from?.offset ?? 0) : 0);
    if (!resumed) part.begin({ url: request.url, validator: validatorOf(response), total });
    await append(request, response, part, total, watch);
    return { ending: 'done', resumed };
  } catch (error) {
    if (UserError.isInstance(error)) {
      if (error.code === 'too_large') part.discard();
      return { ending: 'refused', error, resumed };
    }
    if (hasCode(error, 'ENOSPC')) return { ending: 'refused', error: diskFull(request.destination), resumed };
    return { ending: 'broken', error: watch.reason() ?? error, resumed };
  } finally {
    watch.stop();
  }
}

function resumePoint(request: DownloadRequest, part: PartialFile): { offset: number; origin: Origin } | null {
  const origin = part.origin();
  const offset = part.size();
  if (origin === null || origin.url !== request.url || offset === 0) return null;
  if (origin.total !== null && offset >= origin.total) return null;
  return origin.validator !== null || request.sha256 ? { offset, origin } : null;
}

function rangeHeaders(offset: number, origin: Origin): Record<string, string> {
  const range = { range: `bytes=${offset}-` };
  return origin.validator === null ? range : { ...range, 'if-range': origin.validator };
}

/** Whether a 206 response is exactly the requested part of the same file. */
function continues(response: Response, offset: number, origin: Origin): boolean {
  if (response.status !== 206) return false;
  const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(response.headers.get('content-range') ?? '');
  if (range === null || Number(range[1]) !== offset) return false;
  const sameTotal = origin.total === null || range[2] === '*' || Number(range[2]) === origin.total;
  const validator = validatorOf(response);
  return sameTotal && (validator === null || origin.validator === null || validator === origin.validator);
}

/** Weak ETags don't guarantee equal bytes, so they don't count. */
function validatorOf(response: Response): string | null {
  const tag = response.headers.get('etag');
  if (tag?.startsWith('"')) return tag;
  return response.headers.get('last-modified');
}

/** Size of the whole file; null if the server doesn't give it, or counts compressed bytes. */
function totalBytes(response: Response, offset: number): number | null {
  if (response.headers.get('content-encoding') !== null) return null;
  const length = response.headers.get('content-length');
  return length === null ? null : Number(length) + offset;
}

async function refuseSize(request: DownloadRequest, total: number | null, present: number): Promise<void> {
  if (total === null) return;
  if (request.bytesMax && total > request.bytesMax) throw tooLarge(request, request.bytesMax);
  if (request.bytes && total !== request.bytes) {
    throw new UserError(
      'wrong_size',
      `${request.url} is ${total} bytes, but the task expects ${request.bytes}`,
      'the file has changed at its source; --allow-unverified accepts it and adds a caveat to every result',
    );
  }
  const disk = await statfs(dirname(request.destination));
  if (disk.bavail * disk.bsize < total - present) throw diskFull(request.destination, total - present);
}

function tooLarge(request: DownloadRequest, bytesMax: number): UserError {
  return new UserError(
    'too_large',
    `${request.url} is larger than the allowed ${bytesMax} bytes`,
    'check what is at that address: it is not what the task expects',
  );
}

async function append(
  request: DownloadRequest,
  response: Response,
  part: PartialFile,
  total: number | null,
  watch: StallWatch,
): Promise<void> {
  const file = await open(part.path, 'a');
  let done = part.size();
  const most = request.bytes ?? total;
  try {
    for await (const chunk of response.body ?? []) {
      watch.touch();
      done += chunk.byteLength;
      if (request.bytesMax && done > request.bytesMax) throw tooLarge(request, request.bytesMax);
      if (most !== null && done > most) throw new Error(`more than the ${most} bytes that were announced`);
      await file.appendFile(chunk);
      request.onProgress?.(done, total);
    }
  } finally {
    await file.close();
  }
  if (total !== null && done < total) throw new Error(`the connection ended after ${done} of ${total} bytes`);
  if (request.bytes && done !== request.bytes)
    throw new Error(`received ${done} bytes instead of ${request.bytes}`);
}

/** In milliseconds; the header gives seconds or a date. */
function retryAfter(response: Response): number | null {
  const value = response.headers.get('retry-after');
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
}

/** Aborts if no data arrives for a while, or if the caller aborts. */
class StallWatch {
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;
  readonly signal: AbortSignal;

  constructor(stallMs: number, outer: AbortSignal | null) {
    const stalled = new Error(`no data for ${stallMs / 1000} seconds`);
    this.timer = setTimeout(() => this.controller.abort(stalled), stallMs);
    this.signal = outer === null ? this.controller.signal : AbortSignal.any([outer, this.controller.signal]);
  }

  touch(): void {
    this.timer.refresh();
  }

  reason(): Error | null {
    const { aborted, reason } = this.controller.signal;
    return aborted ? (reason instanceof Error ? reason : new Error(messageOf(reason))) : null;
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}
