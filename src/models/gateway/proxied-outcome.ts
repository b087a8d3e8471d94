import type { IncomingMessage } from 'node:http';
import { hasCode, messageOf } from '../../lib/errors.ts';
import type { CallCharge, CallFailure, ModelAnswer } from '../../schema/index.ts';
import { answerBytes, usageOfBytes } from '../estimate.ts';
import { AcquireTimedOut } from '../limiter.ts';
import { costOf } from '../prices.ts';
import { ProviderError } from '../provider-adapter.ts';
import { answerWithoutKeys, explainReply } from '../providers/index.ts';
import type { CallRecord } from './caller.ts';
import type { Dialect, ReadAnswer } from './dialects/dialect.ts';
import { maxKeptBytes, type ReplyTap } from './reply-tap.ts';
import { plainHeaders, type SentRequest } from './send-upstream.ts';
import { withoutKeys } from './split-secrets.ts';
import type { UpstreamModel } from './upstream.ts';

/** One request of a program on its way to a provider. */
export interface ProxiedCall {
  dialect: Dialect;
  model: UpstreamModel;
  sent: SentRequest;
  isStreaming: boolean;
  /** Whether events that only report the usage are hidden from the program. */
  hidesUsage: boolean;
  /** The most tokens that can be written, or an assumed limit. */
  maxOutputTokens: number;
}

/** A reply, as far as it arrived. */
export interface TappedReply {
  incoming: IncomingMessage | null;
  tap: ReplyTap | null;
  /** The error that broke it off; null: it is complete. */
  broken: unknown;
  /** Nothing arrived for too long. */
  isStalled: boolean;
}

/** The outcome of a call. */
export interface CallOutcome extends CallCharge {
  answer: ModelAnswer | null;
  answeredBy: string | null;
  failure: CallRecord['failure'];
  latencyMs: number;
  /** Milliseconds until the provider's limits let it through. */
  waitingMs: number;
  /** The status that the program got; null: none. */
  status: number | null;
  /** The body as the provider sent it, without keys. */
  reply: string;
}

type Outcome = Omit<CallOutcome, 'latencyMs' | 'waitingMs' | 'status'>;

/** What may have broken a reply off: the program disconnected, or the run is over. */
interface Ends {
  gone: AbortSignal;
  over: AbortSignal;
}

/** An answer of which nothing was read. */
const unread: ModelAnswer = { kind: 'answered', text: '', tool_calls: [], finish: 'other' };

export function outcomeOf(call: ProxiedCall, tapped: TappedReply, ends: Ends): Outcome {
  const read = tapped.tap?.end() ?? null;
  const { redactor } = call.model.context;
  const reply = withoutKeys(tapped.tap?.text ?? '', redactor);
  const { answer, failure } = meaningOf(call, tapped, read, reply, ends);
  return {
    answer: answer === null ? null : answerWithoutKeys(answer, redactor),
    failure,
    answeredBy: read?.answeredBy == null ? null : redactor.text(read.answeredBy),
    ...chargeOf(call, tapped, read),
    reply,
  };
}

function meaningOf(
  { model: { context } }: ProxiedCall,
  { incoming, broken, isStalled, tap }: TappedReply,
  read: ReadAnswer | null,
  reply: string,
  { gone, over }: Ends,
): Pick<Outcome, 'answer' | 'failure'> {
  const failed = (failure: CallFailure, message: string) => ({ answer: null, failure: { failure, message } });
  if (over.aborted && broken !== null) return failed('cut_off', messageOf(over.reason));
  if (gone.aborted && broken !== null) {
    // The program has read it: what it leaves unread, or what can't be read here, makes it no less of an answer.
    const isAnswer = incoming !== null && isGood(incoming) && read?.error === null;
    if (isAnswer && (read.answer !== null || (tap?.writtenBytes ?? 0) > 0))
      return { answer: read.answer ?? unread, failure: null };
    return failed('cut_off', messageOf(gone.reason));
  }
  if (broken !== null || incoming === null) {
    const message = context.redactor.error(`${context.provider}: ${messageOf(broken)}`);
    if (broken instanceof AcquireTimedOut) return failed('rate_limited', message);
    return failed(isStalled ? 'timed_out' : 'connection', message);
  }
  const isError = !isGood(incoming);
  if (!isError && read?.error === null && read.answer !== null) return { answer: read.answer, failure: null };
  if (tap?.isTooLong === true)
    return failed('malformed', `${context.provider}: the reply has more than ${maxKeptBytes / 2 ** 20} MiB`);
  const [status, said] = isError
    ? [incoming.statusCode ?? 0, reply]
    : [null, JSON.stringify(read?.error ?? null)];
  const meant = explainReply(status, plainHeaders(incoming), said, context);
  if (!(meant instanceof ProviderError)) return { answer: meant, failure: null };
  return failed(meant.failure, meant.message);
}

/**
 * The provider's count. For a reply that it did not count to its end, this is an estimate. Providers do not charge for
 * requests that they refuse.
 */
function chargeOf(call: ProxiedCall, tapped: TappedReply, read: ReadAnswer | null): CallCharge {
  const { model, sent, maxOutputTokens } = call;
  const { incoming, broken } = tapped;
  const charge = (usage: CallCharge['usage']) => ({
    usage,
    cost: model.price === null ? null : costOf(usage, model.price),
  });
  const isSent = incoming !== null || !hasNotArrived(broken);
  if (!isSent || (incoming !== null && !isGood(incoming)) || isRefusedInStream(read))
    return charge({ ...usageOfBytes({ read: 0, written: 0 }, 0), source: 'provider' });
  const written = bytesWritten(call, tapped, read);
  const counted = read?.usage ?? null;
  const isPlausible = counted !== null && counted.input > 0 && (counted.output > 0 || written === 0);
  if (isPlausible && read?.isComplete === true) return charge(counted);
  const estimate = usageOfBytes({ read: sent.body.length, written }, maxOutputTokens);
  if (counted === null) return charge(estimate);
  // Some providers count from the beginning: their count so far is a lower limit. Some servers count only a part.
  const input = counted.input === 0 ? estimate.input : counted.input;
  const output = Math.max(counted.output, estimate.output);
  return charge({ ...counted, input, output, source: 'estimate' });
}

/** Some providers refuse a request, such as one beyond a rate limit, by the first event of a stream. */
function isRefusedInStream(read: ReadAnswer | null): boolean {
  if (read === null || read.error === null || read.isReasoningHidden) return false;
  return read.answer === null && read.usage === null;
}

/**
 * The bytes that the model wrote, as far as they arrived. Where nobody can see how many there are (in a reply in one
 * piece that is cut off, in hidden reasoning, in what can't be read), they are taken for the most possible.
 */
function bytesWritten(
  { isStreaming }: ProxiedCall,
  { broken, tap }: TappedReply,
  read: ReadAnswer | null,
): number {
  const seen = read?.answer == null ? 0 : answerBytes(read.answer);
  const isUnread = read?.answer == null && read?.usage == null && read?.error == null;
  if (broken === null) return isUnread && tap?.isEmpty === false ? Number.POSITIVE_INFINITY : seen;
  if (!isStreaming || read?.isReasoningHidden === true) return Number.POSITIVE_INFINITY;
  return Math.max(seen, tap?.writtenBytes ?? 0);
}

export function isGood({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode >= 200 && statusCode < 300;
}

/** Whether no provider can have read the request, because it was not sent or there was no connection. */
function hasNotArrived(error: unknown): boolean {
  if (error instanceof AcquireTimedOut) return true;
  const codes = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ERR_INVALID_CHAR'];
  return codes.some((code) => hasCode(error, code));
}
