import type { IncomingMessage, ServerResponse } from 'node:http';
import { AcquireTimedOut, longestWait, type Slot } from '../limiter.ts';
import { retryAfterMs } from '../providers/index.ts';
import { isUsageAlone } from './dialects/chat-completions.ts';
import type { Dialect } from './dialects/dialect.ts';
import { headersBack } from './forwarded-headers.ts';
import { sendJson } from './http-bodies.ts';
import {
  type CallOutcome,
  isGood,
  outcomeOf,
  type ProxiedCall,
  type TappedReply,
} from './proxied-outcome.ts';
import { type RelayOptions, relay } from './relay.ts';
import { ReplyTap } from './reply-tap.ts';
import { plainHeaders, type UpstreamConnections } from './send-upstream.ts';
import { errorEvent, eventOf, SignsOfLife } from './signs-of-life.ts';

export interface CallWays {
  response: ServerResponse;
  connections: UpstreamConnections;
  silenceMs: number;
  /** How long the program may leave a reply unread, in all. */
  unreadMs: number;
  /** How long to read on after the program has disconnected. */
  readOnMs: number;
  /** Aborted when the program has disconnected. */
  gone: AbortSignal;
  /** Aborted when the run is over. */
  over: AbortSignal;
  /** Called with the time until the provider accepts the call. */
  onWait?: ((until: Promise<unknown>) => void) | undefined;
  /** Called with the time until the call is over, once the provider may get it. */
  onSent?: ((until: Promise<unknown>) => void) | undefined;
}

/**
 * Forwards the request, passes the reply back as it arrives, and returns the outcome. A failure of the provider or the
 * program is not an exception.
 * @throws a signal's reason if it was aborted before anything was sent
 */
export async function makeProxiedCall(call: ProxiedCall, ways: CallWays): Promise<CallOutcome> {
  const { response, gone, over } = ways;
  using life = new SignsOfLife(response, signOf(call), ways.silenceMs);
  const asked = performance.now();
  const turn = call.model.limiter.acquire(AbortSignal.any([gone, over]), { milliseconds: longestWait });
  ways.onWait?.(turn);
  const slot = await turn.catch((error: unknown) => {
    if (error instanceof AcquireTimedOut) return error;
    throw error;
  });
  const waitingMs = performance.now() - asked;
  if (slot instanceof AcquireTimedOut) return { ...refused(call, ways, slot), waitingMs };
  const made = makeInTurn(call, ways, slot, life);
  ways.onSent?.(made);
  return { ...(await made), waitingMs };
}

/** What says in a silence that nothing is wrong; null if the reply can't contain it, as a list of Google's. */
function signOf({ dialect, isStreaming, sent }: ProxiedCall): string | null {
  const isOfEvents = dialect.name !== 'generate_content' || /[?&]alt=sse(&|$)/.test(sent.path);
  return isStreaming && isOfEvents ? dialect.keepAlive : null;
}

/** The provider has refused calls for so long that this one is not sent. */
function refused(
  call: ProxiedCall,
  { response, gone, over }: CallWays,
  broken: AcquireTimedOut,
): Omit<CallOutcome, 'waitingMs'> {
  const outcome = outcomeOf(call, { incoming: null, tap: null, broken, isStalled: false }, { gone, over });
  const { status, body } = call.dialect.error('rate_limited', outcome.failure?.message ?? broken.message);
  // A long silence has started the stream of a call that waited.
  if (response.headersSent) response.end(errorEvent(call.dialect.name, JSON.stringify(body)));
  else sendJson(response, status, body);
  return { ...outcome, status: response.headersSent ? response.statusCode : null, latencyMs: 0 };
}

async function makeInTurn(
  call: ProxiedCall,
  ways: CallWays,
  slot: Slot,
  life: SignsOfLife,
): Promise<Omit<CallOutcome, 'waitingMs'>> {
  const { dialect, model } = call;
  const { response, gone, over } = ways;
  const start = performance.now();
  const stalled = new AbortController();
  const watch = setTimeout(() => {
    // Nothing is read from the provider while the program reads nothing.
    if (response.writableNeedDrain) watch.refresh();
    else stalled.abort(new Error(`nothing came for ${model.stallMs / 1000} s`));
  }, model.stallMs);
  const reply: TappedReply = { incoming: null, tap: null, broken: null, isStalled: false };
  try {
    using left = leavingAfter(gone, () => (call.isStreaming && !isRead(reply) ? 0 : ways.readOnMs));
    const any = AbortSignal.any([left.signal, over, stalled.signal]);
    reply.incoming = await ways.connections.send(dialect.name, model, call.sent, any);
    await passBack(call, reply.incoming, reply, response, {
      unreadMs: ways.unreadMs,
      onPiece: () => watch.refresh(),
      onPassed: (piece) => life.heard(piece),
    });
  } catch (error) {
    reply.broken = stalled.signal.aborted && !gone.aborted && !over.aborted ? stalled.signal.reason : error;
    reply.isStalled = stalled.signal.aborted;
  } finally {
    clearTimeout(watch);
  }
  const outcome = outcomeOf(call, reply, { gone, over });
  if (reply.broken !== null) breakOff(response, dialect, outcome.failure?.message ?? 'The reply broke off.');
  endSlot(slot, reply.incoming, outcome);
  const status = response.headersSent ? response.statusCode : null;
  return { ...outcome, status, latencyMs: performance.now() - start };
}

/** Whether all of an answer was read, if not the provider's last words on it. */
function isRead({ tap }: TappedReply): boolean {
  return tap?.isComplete === true;
}

/** Aborted when the program has disconnected, and as much later as is decided then. */
function leavingAfter(gone: AbortSignal, patienceMs: () => number): Disposable & { signal: AbortSignal } {
  const left = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const leave = () => {
    timer = setTimeout(() => left.abort(gone.reason), patienceMs());
  };
  if (gone.aborted) leave();
  else gone.addEventListener('abort', leave, { once: true });
  return {
    signal: left.signal,
    [Symbol.dispose]() {
      gone.removeEventListener('abort', leave);
      clearTimeout(timer);
    },
  };
}

async function passBack(
  { dialect, model, hidesUsage }: ProxiedCall,
  incoming: IncomingMessage,
  reply: TappedReply,
  response: ServerResponse,
  told: Pick<RelayOptions, 'unreadMs' | 'onPiece' | 'onPassed'>,
): Promise<void> {
  const type = incoming.headers['content-type'];
  const isStream = /^text\/event-stream\b/i.test(type ?? '');
  const tap = new ReplyTap(dialect.createReader(), isStream);
  reply.tap = tap;
  if (isStream || !response.headersSent) {
    if (!response.headersSent && !response.destroyed) {
      response.writeHead(
        incoming.statusCode ?? 502,
        headersBack(incoming.rawHeaders, model.context.redactor),
      );
      response.flushHeaders();
    }
    const hides = hidesUsage && isStream ? { hides: isUsageAlone } : {};
    await relay(incoming, response, { secret: model.key, tap, ...hides, ...told });
    if (tap.isCutOff) throw new Error('the reply ended in the middle');
  } else {
    // The stream was started during a long silence, and now there is an error, or an answer in one piece.
    for await (const piece of incoming) tap.add(piece as Buffer);
    const text = model.context.redactor.text(tap.text);
    response.write(isGood(incoming) ? eventOf(text) : errorEvent(dialect.name, text));
  }
  response.end();
}

/** A reply in progress is cut off where it is; if none has begun, an error in the dialect's format is sent. */
function breakOff(response: ServerResponse, dialect: Dialect, message: string): void {
  const { status, body } = dialect.error('unavailable', message);
  if (response.headersSent) response.destroy();
  else sendJson(response, status, body);
}

const slotEnds: Partial<Record<string, 'limited' | 'failed'>> = {
  ...{ rate_limited: 'limited', overloaded: 'failed', timed_out: 'failed', connection: 'failed' },
};

function endSlot(
  slot: Slot,
  incoming: IncomingMessage | null,
  { failure, reply }: Pick<CallOutcome, 'failure' | 'reply'>,
): void {
  const headers = incoming === null ? {} : plainHeaders(incoming);
  if (failure === null) slot.end('answered');
  else slot.end(slotEnds[failure.failure] ?? 'other', retryAfterMs(headers, reply, Date.now()));
}
