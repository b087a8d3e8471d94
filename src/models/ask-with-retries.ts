import type { FailedAttempt, ModelFailure, TokenUsage } from '../schema/index.ts';
import type { Clock } from './clock.ts';
import { probableUsage } from './estimate.ts';
import { type AskOptions, ModelUnavailable } from './language-models.ts';
import { AcquireTimedOut, type CallLimiter, longestWait, type Slot } from './limiter.ts';
import {
  type ProviderAdapter,
  ProviderCut,
  ProviderError,
  type ProviderReply,
  type ProviderRequest,
} from './provider-adapter.ts';

export interface AskParts {
  adapter: ProviderAdapter;
  limiter: CallLimiter;
  clock: Clock;
  /** Maximum attempts of one call. */
  attempts: number;
  /** Collects the charge of each attempt, also of a failed call. */
  paid: TokenUsage[];
  /** Whether another attempt fits the budget after what was paid; default: it does. */
  fitsBudget?: (() => boolean | Promise<boolean>) | undefined;
}

export interface AnsweredAsk {
  reply: ProviderReply;
  latencyMs: number;
  waitingMs: number;
  attempts: FailedAttempt[];
}

const firstDelay = 1000;
const longestDelay = 60_000;

/** Every empty answer costs its input: after this many, it is accepted as the model's answer. */
const maxEmptyAnswers = 3;

/**
 * Asks until there is an answer. Transient failures are retried: after the time that the provider asked to wait if that
 * is a second or more, else after a random time up to 1 s, 2 s, 4 s, … 60 s (exponential backoff with full jitter). A
 * waiting call holds no slot.
 * @throws ModelUnavailable if no answer came, or the signal's reason if it was aborted
 */
export async function askWithRetries(
  request: ProviderRequest,
  parts: AskParts,
  { signal, onRetry, onWait }: AskOptions,
): Promise<AnsweredAsk> {
  const { clock } = parts;
  const since = clock.now();
  const failed: FailedAttempt[] = [];
  const fitsBudget = parts.fitsBudget ?? (() => true);
  let emptyAnswers = 0;
  for (;;) {
    const turn = acquire(parts, since, failed, signal);
    onWait?.(turn);
    const slot = await turn;
    const begun = clock.now();
    const outcome = await tryOnce(request, parts, slot, signal);
    const duration = clock.now() - begun;
    const tries = failed.length + 1;
    if ('reply' in outcome) {
      const { reply } = outcome;
      const isWanted = !isEmpty(reply) || emptyAnswers + 1 >= maxEmptyAnswers || tries >= parts.attempts;
      if (isWanted || !(await fitsBudget())) {
        const waitingMs = clock.now() - since - duration;
        return { reply, latencyMs: duration, waitingMs, attempts: failed };
      }
      emptyAnswers += 1;
    }
    const error = 'error' in outcome ? outcome.error : emptyAnswer();
    const asked = error.retryAfterMs ?? 0;
    const delay = asked < firstDelay ? Math.max(asked, backoff(failed.length, clock)) : asked;
    const isInTime = waited(failed) + duration + delay <= longestWait;
    const mayRetry = error.isPassing && tries < parts.attempts && isInTime && (await fitsBudget());
    const { failure, message } = error;
    const attempt = { failure, message, duration_ms: duration, waited_ms: mayRetry ? delay : 0 };
    failed.push(attempt);
    if (!mayRetry) throw unavailable(error, failed, isInTime);
    onRetry?.(attempt);
    const pause = clock.sleep(delay, signal);
    onWait?.(pause);
    await pause;
  }
}

type TryOutcome = { reply: ProviderReply } | { error: ProviderError };

/** One attempt. Its slot is released afterwards, however it ended. */
async function tryOnce(
  request: ProviderRequest,
  { adapter, paid }: AskParts,
  slot: Slot,
  signal: AbortSignal,
): Promise<TryOutcome> {
  try {
    const reply = await adapter.call(request, signal);
    slot.end('answered');
    paid.push(reply.usage ?? probableUsage(request, reply.answer));
    return { reply };
  } catch (error) {
    const isCharged = error instanceof ProviderError || error instanceof ProviderCut;
    if (isCharged && error.usage !== null) paid.push(error.usage);
    signal.throwIfAborted();
    if (!(error instanceof ProviderError)) throw error;
    const isLimited = error.failure === 'rate_limited' || error.failure === 'overloaded';
    slot.end(isLimited ? 'limited' : error.isPassing ? 'failed' : 'other', error.retryAfterMs);
    return { error };
  } finally {
    slot.end('other');
  }
}

async function acquire(
  { limiter }: AskParts,
  since: number,
  failed: readonly FailedAttempt[],
  signal: AbortSignal,
): Promise<Slot> {
  try {
    return await limiter.acquire(signal, { since, milliseconds: longestWait });
  } catch (error) {
    if (!(error instanceof AcquireTimedOut)) throw error;
    const failure: ModelFailure = failed.at(-1)?.failure ?? 'rate_limited';
    const hint = 'Wait, or lower the calls at a time: providers.<name>.concurrent in the experiment file.';
    throw new ModelUnavailable(failure, `No answer within 30 minutes: ${error.message}.`, hint, failed);
  }
}

function isEmpty({ answer }: ProviderReply): boolean {
  if (answer.kind !== 'answered' || answer.finish === 'length') return false;
  return answer.text.trim() === '' && answer.tool_calls.length === 0;
}

function emptyAnswer(): ProviderError {
  const hint = 'Ask another model, or look at what the server says.';
  return new ProviderError('malformed', 'the model answered with nothing', { isPassing: true, hint });
}

/** Full jitter: anything from zero up to the exponential bound. */
function backoff(failures: number, clock: Clock): number {
  return clock.random() * Math.min(longestDelay, firstDelay * 2 ** failures);
}

/** Milliseconds of failed attempts, and of the waiting after them. */
export function waited(failed: readonly FailedAttempt[]): number {
  return failed.reduce((total, { duration_ms, waited_ms }) => total + duration_ms + waited_ms, 0);
}

function unavailable(
  { failure, message, hint, retryAfterMs }: ProviderError,
  failed: readonly FailedAttempt[],
  isInTime: boolean,
): ModelUnavailable {
  const tries = failed.length === 1 ? '' : ` (tried ${failed.length} times)`;
  if (retryAfterMs === null || isInTime)
    return new ModelUnavailable(failure, `${message}${tries}`, hint, failed);
  const minutes = (milliseconds: number) => `${Math.round(milliseconds / 60_000)} minutes`;
  const asked = `it asks to wait ${minutes(retryAfterMs)}, and a call waits ${minutes(longestWait)} at most`;
  return new ModelUnavailable(failure, `${message}${tries}: ${asked}`, 'Run the same command later.', failed);
}
