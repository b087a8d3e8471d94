import type { UserError } from '../lib/errors.ts';

/**
 * Adds headers that a host needs, such as a key. Called for every hop of a redirect, because a key must not be sent to
 * another host.
 */
export type HeadersFor = (url: URL) => Record<string, string>;

export interface DownloadRequest {
  url: string;
  /** Absolute path of the file; it grows as `<file>.part` beside it. */
  destination: string;
  /** The expected size in bytes. */
  bytes?: number | null;
  /** A larger file is refused, in bytes. */
  bytesMax?: number | null;
  /** Allows resuming even if the server gives no validator: the caller compares the checksum at the end. */
  sha256?: string | null;
  headersFor?: HeadersFor;
  /** A specific error for an HTTP status that is not worth another try; null: the general one. */
  explain?: (status: number) => UserError | null;
  onProgress?: (done: number, total: number | null) => void;
  /** Called before each pause after a failed attempt, with its reason and the length of the pause. */
  onRetry?: (why: string, pauseMs: number) => void;
  signal?: AbortSignal | null;
  timing?: Partial<DownloadTiming>;
}

export interface DownloadTiming {
  /** Failures in a row without a new byte before it gives up. */
  attempts: number;
  /** First pause; it doubles with every failure in a row. */
  pauseMs: number;
  pauseMaxMs: number;
  /** The longest wait that a server may request with Retry-After. */
  retryAfterMaxMs: number;
  /** After this long without a byte, the connection is closed. */
  stallMs: number;
}
