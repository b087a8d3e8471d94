import type { IncomingMessage, ServerResponse } from 'node:http';
import { messageOf } from '../../lib/errors.ts';
import type { CallCharge, CallFailure, ModelAnswer } from '../../schema/index.ts';
import { answerBytes, usageOfBytes } from '../estimate.ts';
import type { CallEnd, Slot } from '../limiter.ts';
import { costOf } from '../prices.ts';
import { ProviderError } from '../provider-adapter.ts';
import { explainReply, retryAfterMs } from '../providers/index.ts';
import type { CallRecord } from './caller.ts';
import { isUsageAlone } from './dialects/chat-completions.ts';
import type { Dialect, ReadAnswer } from './dialects/dialect.ts';
import { sendJson } from './http-bodies.ts';
import { relay } from './relay.ts';
import { ReplyTap } from './reply-tap.ts';
import { headersBack, type SentRequest, type UpstreamConnections } from './send-upstream.ts';
import type { UpstreamModel } from './upstream.ts';

/** One request of a program on its way to a provider, and the reply on its way back. */
export interface ProxiedCall {
  dialect: Dialect;
  model: UpstreamModel;
  sent: SentRequest;
  isStreaming: boolean;
  hidesUsage: boolean;
  maxOutputTokens: number;
}

export type CallOutcome = Pick<CallRecord, 'answer' | 'answeredBy' | 'failure' | 'latencyMs' | 'waitingMs'> &
  CallCharge & { status: number | null; reply: string };

interface Reply {
  status: number;
  headers: Record<string, string>;
  text: string;
  read: ReadAnswer;
  bytes: number;
}

/**
 * Sends the request on, passes the reply back as it comes, and says what came of it. Never throws because of a provider or a
 * program that is gone.
 * @param signal aborted when the program is gone or the run over
 */
export async function makeProxiedCall(
  call: ProxiedCall,
  response: ServerResponse,
  connections: UpstreamConnections,
  signal: AbortSignal,
): Promise<CallOutcome> {
  const { dialect, model } = call;
  const begun = performance.now();
  const slot = await model.limiter.acquire(signal);
  const start = performance.now();
  const stalled = new AbortController();
  const onStall = () => stalled.abort(new Error(`nothing came for ${model.stallMs / 1000} s`));
  const either = AbortSignal.any([signal, stalled.signal]);
  const waitingMs = start - begun;
  const tapped: { tap: ReplyTap | null; incoming: IncomingMessage | null } = { tap: null, incoming: null };
  let broken: unknown = null;
  try {
    const firstByte = setTimeout(onStall, model.stallMs);
    const incoming = await connections
      .send(dialect.name, model, call.sent, either)
      .finally(() => clearTimeout(firstByte));
    tapped.incoming = incoming;
    tapped.tap = new ReplyTap(dialect.createReader(), incoming.headers['content-type']);
    const isStream = /^text\/event-stream\b/i.test(incoming.headers['content-type'] ?? '');
    response.writeHead(incoming.statusCode ?? 502, headersBack(incoming.rawHeaders));
    response.flushHeaders();
    await relay(incoming, response, {
      secret: model.key,
      tap: tapped.tap,
      keepAlive: isStream ? dialect.keepAlive : null,
      ...(call.hidesUsage && isStream ? { hides: isUsageAlone } : {}),
      stallMs: model.stallMs,
      onStall,
    });
    response.end();
  } catch (error) {
    broken = error;
  }
  const latencyMs = performance.now() - start;
  const reply = replyOf(tapped);
  const outcome = outcomeOf(call, reply, broken, signal);
  if (broken !== null) breakOff(response, dialect, outcome.failure?.message ?? 'The reply broke off.');
  endSlot(slot, reply, outcome.failure?.failure ?? null);
  return {
    ...outcome,
    ...{ latencyMs, waitingMs },
    status: response.headersSent ? response.statusCode : null,
    reply: reply?.text ?? '',
  };
}

/** Before anything was sent it is an error in the dialect's words; a reply under way ends in the middle, as it came. */
function breakOff(response: ServerResponse, dialect: Dialect, message: string): void {
  if (response.headersSent) response.destroy();
  else {
    const { status, body } = dialect.error('unavailable', message);
    sendJson(response, status, body);
  }
}

function replyOf({
  tap,
  incoming,
}: {
  tap: ReplyTap | null;
  incoming: IncomingMessage | null;
}): Reply | null {
  if (tap === null || incoming === null) return null;
  const { answer, text, bytes } = tap.end();
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value]] : [],
    ),
  );
  return { status: incoming.statusCode ?? 502, headers, text, read: answer, bytes };
}

function outcomeOf(
  call: ProxiedCall,
  reply: Reply | null,
  broken: unknown,
  signal: AbortSignal,
): Pick<CallOutcome, 'answer' | 'answeredBy' | 'failure' | 'usage' | 'cost'> {
  const { answer, failure } = meaningOf(call, reply, broken, signal);
  const answeredBy = reply?.read.answeredBy ?? null;
  return { answer, answeredBy, failure, ...chargeOf(call, reply, broken) };
}

function meaningOf(
  { model }: ProxiedCall,
  reply: Reply | null,
  broken: unknown,
  signal: AbortSignal,
): { answer: ModelAnswer | null; failure: { failure: CallFailure; message: string } | null } {
  const failed = (failure: CallFailure, message: string) => ({ answer: null, failure: { failure, message } });
  if (signal.aborted) return failed('cut_off', messageOf(signal.reason));
  if (broken !== null) {
    const message = model.context.redactor.error(`${model.context.provider}: ${messageOf(broken)}`);
    return failed(/^nothing came for/.test(messageOf(broken)) ? 'timed_out' : 'connection', message);
  }
  if (reply === null) return failed('malformed', 'nothing was answered');
  const { status, headers, text, read } = reply;
  const isError = status < 200 || status >= 300;
  if (!isError && read.error === null && read.answer !== null) return { answer: read.answer, failure: null };
  const said = explainReply(
    isError ? status : null,
    headers,
    isError ? text : JSON.stringify(read.error),
    model.context,
  );
  if (!(said instanceof ProviderError)) return { answer: said, failure: null };
  return failed(said.failure, said.message);
}

/**
 * The provider's own counts, where it gave any. Else, of what it had begun to answer, or may still be answering, an
 * estimate: where nobody sees how far the reply came, the longest there can be.
 */
function chargeOf(call: ProxiedCall, reply: Reply | null, broken: unknown): CallCharge {
  const { model, sent, maxOutputTokens } = call;
  const isRefused = reply !== null && (reply.status < 200 || reply.status >= 300);
  const hasBegun = reply === null ? broken !== null && isUnderWay(broken) : !isRefused;
  const counted = reply?.read.usage ?? null;
  const free = usageOfBytes({ read: 0, written: 0 }, 0);
  const isSeen = broken === null || call.isStreaming;
  const seen = reply?.read.answer == null ? 0 : answerBytes(reply.read.answer);
  const written = isSeen ? seen : Number.POSITIVE_INFINITY;
  const estimate = usageOfBytes({ read: sent.body.length, written }, maxOutputTokens);
  const usage = isRefused
    ? { ...free, source: 'provider' as const }
    : (counted ?? (hasBegun ? estimate : free));
  return { usage, cost: model.price === null ? null : costOf(usage, model.price) };
}

/** Whether the provider may have got the request: not where there was no connection. */
function isUnderWay(error: unknown): boolean {
  return !/ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ECONNRESET|EHOSTUNREACH|ENETUNREACH/.test(messageOf(error));
}

function endSlot(slot: Slot, reply: Reply | null, failure: CallFailure | null): void {
  const ends: Partial<Record<CallFailure, CallEnd>> = {
    ...{ rate_limited: 'limited', overloaded: 'failed', timed_out: 'failed', connection: 'failed' },
  };
  const how = failure === null ? 'answered' : (ends[failure] ?? 'other');
  slot.end(how, reply === null ? null : retryAfterMs(reply.headers, reply.text, Date.now()));
}
