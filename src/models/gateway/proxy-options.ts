import type { IncomingHttpHeaders } from 'node:http';
import type { DialectName, ModelName, ModelRequest } from '../../schema/index.ts';
import type { Quota, SharedQuota } from '../quota.ts';
import type { CallRecord, OverQuota } from './caller.ts';
import type { Upstream } from './upstream.ts';

/** A request of a program for a model's answer. */
export interface ProxyRequest {
  /** From 1, in the order in which they came. */
  number: number;
  dialect: DialectName;
  /** Without the query. */
  path: string;
  /** Without the program's token. */
  headers: IncomingHttpHeaders;
  /** What can be read of it. */
  request: ModelRequest;
  /** The model that the program named; null where it named none. */
  asked: string | null;
  /** The model that serves it. */
  model: ModelName;
}

export interface ProxyOptions {
  upstream: Upstream;
  quota: Quota;
  /** A quota that others use, too; default: none. */
  shared?: SharedQuota | null;
  /** What the program sends as its key. */
  token: string;
  /** Whether tools may be used that the provider itself runs, such as a search of the web; default: no. */
  serverTools?: boolean;
  /** Asked before a request is sent on, one after the other in the order in which they came. `closed`: it is not. */
  onRequest?: (request: ProxyRequest) => Promise<{ kind: 'send' } | { kind: 'closed'; message: string }>;
  /** Told of a call that a quota has no room for. The program is told so, too. */
  onRefused?: (refused: OverQuota, request: ProxyRequest) => void;
  /** Told of each call that was made, whatever came of it. */
  record?: (call: CallRecord, request: ProxyRequest) => void;
  /** After so much silence in a stream the program gets a sign of life; default: half a minute. */
  silenceMs?: number;
  /** A program that leaves a reply unread for so long is cut off; default: half a minute. */
  unreadMs?: number;
  /** Most connections at a time; default 256. */
  connections?: number;
  /** Ends all calls. */
  signal: AbortSignal;
}
