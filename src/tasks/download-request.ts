import type { UserError } from '../lib/errors.ts';

/** Adds what a host asks for, such as a key. Called for every hop of a redirect: a key must not follow to a stranger. */
export type HeadersFor = (url: URL) => Record<string, string>;

export interface DownloadRequest {
  url: string;
  /** Absolute path of the file; `<file>.part` beside it is where it grows. */
  destination: string;
  /** Size it has to have, in bytes. */
  bytes?: number | null;
  /** A larger file is refused, in bytes. */
  bytesMax?: number | null;
  /** Lets a download be resumed even where the server gives no validator: the caller compares it in the end. */
  sha256?: string | null;
  headersFor?: HeadersFor;
  /** An error of the caller's own for an HTTP status that is not worth another try; null: the general one. */
  explain?: (status: number) => UserError | null;
  onProgress?: (done: number, total: number | null) => void;
  signal?: AbortSignal | null;
  timing?: Partial<DownloadTiming>;
}

export interface DownloadTiming {
  /** Failures in a row without a new byte before it gives up. */
  attempts: number;
  /** First pause; it doubles with every failure in a row. */
  pauseMs: number;
  pauseMaxMs: number;
  /** Longest that a server may ask to wait by Retry-After. */
  retryAfterMaxMs: number;
  /** Without a byte for this long, the connection is given up. */
  stallMs: number;
}
