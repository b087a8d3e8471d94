import type { IncomingHttpHeaders } from 'node:http';
import type { DialectName, ModelName, ModelRequest } from '../../schema/index.ts';
import type { Quota, SharedQuota } from '../quota.ts';
import type { CallRecord, OverQuota } from './caller.ts';
import type { Upstream } from './upstream.ts';

/** A program's request for a model's answer. */
export interface ProxyRequest {
  /** From 1, in the order in which they came. */
  number: number;
  dialect: DialectName;
  /** Without the query. */
  path: string;
  /** Without the program's token. */
  headers: IncomingHttpHeaders;
  /** The parts of it that can be read. */
  request: ModelRequest;
  /** Its answer is wanted as a call of a tool that it names; no result of that need follow. */
  isForced: boolean;
  /** The model that the program named; null if it named none. */
  asked: string | null;
  /** The model that serves it. */
  model: ModelName;
}

export interface ProxyOptions {
  upstream: Upstream;
  quota: Quota;
  /** A quota that is shared with others; default: none. */
  shared?: SharedQuota | null;
  /** The key that the program sends. */
  token: string;
  /** Whether tools are allowed that the provider itself runs, such as web search; default: no. */
  serverTools?: boolean;
  /**
   * Whether a request may ask for more than one answer (`n`, `candidateCount`), of which only the first is read; default:
   * no.
   */
  severalAnswers?: boolean;
  /**
   * Called before each request is forwarded, one after the other in the order in which they came. `closed`: it is not
   * forwarded.
   */
  onRequest?: (request: ProxyRequest) => Promise<{ kind: 'send' } | { kind: 'closed'; message: string }>;
  /** Called when a request has to wait until this settles: for calls of others, or for its provider. */
  onWait?: ((until: Promise<unknown>) => void) | undefined;
  /** Called when a request, of any kind, is sent to the provider, which serves it until this settles. */
  onSent?: ((until: Promise<unknown>) => void) | undefined;
  /** Called when a request that was not refused by `onRequest` is over, however it ended. */
  onEnd?: (request: ProxyRequest) => void;
  /** Called for a call that does not fit a quota. The program gets an error, too. */
  onRefused?: (refused: OverQuota) => void;
  /** Called with each call that was made, whatever its outcome. */
  record?: (call: CallRecord, request: ProxyRequest) => void;
  /** After so much silence in a stream, the program gets a keep-alive event; default: half a minute. */
  silenceMs?: number;
  /** A program that leaves a reply unread for so long, in all, is cut off; default: half a minute. */
  unreadMs?: number;
  /**
   * How long to wait for a reply in one piece, or the last count of a stream, after the program closed the connection:
   * what it may have read is charged and recorded as the provider counts it. Default: ten seconds.
   */
  readOnMs?: number;
  /** The most concurrent connections; default: 256. */
  connections?: number;
  /** Aborts all calls. */
  signal: AbortSignal;
}
