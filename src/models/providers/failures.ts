import type { ModelAnswer, ModelFailure } from '../../schema/index.ts';
import { ProviderError } from '../provider-adapter.ts';
import { causesOf, type ErrorFacts, errorFacts, factsOfReply } from './error-facts.ts';
import {
  isContextTooLong,
  isQuotaExhausted,
  isRefusal,
  isUnauthorised,
  isUnknownModel,
} from './error-texts.ts';
import { RedirectError, StallError } from './guarded-fetch.ts';
import { speaksChat } from './provider-model.ts';
import { openaiUrl, type ProviderKind } from './provider-state.ts';
import { IncompleteReply } from './receive.ts';
import type { Redactor } from './redact.ts';
import { retryAfterMs } from './retry-after.ts';

/** The context for explaining an error. */
export interface FailureContext {
  provider: string;
  kind: ProviderKind;
  model: string;
  keyVariable: string;
  /** In a form that may be shown. */
  baseUrl: string | null;
  isStreaming: boolean;
  redactor: Redactor;
}

type Declined = Exclude<ModelAnswer, { kind: 'answered' }>;
type Failed = { failure: ModelFailure; message: string; retryAfterMs?: number | null };

/** The meaning of an error: an answer (the content was refused, the request is too long), or a failed attempt. */
export function explainError(error: unknown, context: FailureContext): ModelAnswer | ProviderError {
  return explained(
    brokenOff(error) ?? saidByProvider(errorFacts(error), context) ?? unreadable(error),
    context,
  );
}

/** The same for a reply in a provider's own format: one with an error status, or an error within a stream (null). */
export function explainReply(
  status: number | null,
  headers: Readonly<Record<string, string>>,
  body: string,
  context: FailureContext,
): ModelAnswer | ProviderError {
  const facts = factsOfReply(status, headers, body);
  const unknown = { failure: 'malformed', message: 'the reply holds no answer' } as const;
  return explained(saidByProvider(facts, context) ?? unknown, context);
}

function explained(found: Declined | Failed, context: FailureContext): ModelAnswer | ProviderError {
  const message = shortened(context.redactor.error(`${context.provider}: ${found.message}`));
  if ('kind' in found) return { ...found, message };
  // Without a cause: the packages' errors contain the whole request and the reply's headers.
  return new ProviderError(found.failure, message, {
    isPassing: passing.has(found.failure),
    retryAfterMs: found.retryAfterMs ?? null,
    hint: context.redactor.error(hintFor(found.failure, context)),
  });
}

const passing: ReadonlySet<ModelFailure> = new Set<ModelFailure>([
  'rate_limited',
  'overloaded',
  'timed_out',
  'connection',
  'malformed',
]);

/** Connection failures: no connection, silence, a reply that ended early. */
function brokenOff(error: unknown): Failed | null {
  const chain = causesOf(error);
  for (const cause of chain) {
    if (cause instanceof IncompleteReply) return { failure: cause.failure, message: cause.message };
    if (cause instanceof StallError) return { failure: 'timed_out', message: cause.message };
    if (cause instanceof RedirectError) return { failure: 'bad_request', message: cause.message };
    // Node's own limits, which can't be changed for one call.
    if (/^UND_ERR_(HEADERS|BODY)_TIMEOUT$/.test(codeOf(cause) ?? ''))
      return { failure: 'timed_out', message: 'nothing came for 300 s' };
  }
  if (chain.some((cause) => codeOf(cause) !== null || /^(terminated|fetch failed)$/.test(cause.message)))
    return { failure: 'connection', message: `the connection failed: ${chainText(chain)}` };
  return null;
}

function saidByProvider(facts: ErrorFacts | null, { kind }: FailureContext): Declined | Failed | null {
  if (facts === null) return null;
  const message = `${facts.message}${facts.status === null ? '' : ` (HTTP ${facts.status})`}`;
  if (isRefusal(facts)) return { kind: 'refused', message };
  if (isContextTooLong(facts)) return { kind: 'context_too_long', message };
  return {
    failure: failureOf(facts, kind),
    message,
    retryAfterMs: retryAfterMs(facts.headers, facts.body, Date.now()),
  };
}

function failureOf(facts: ErrorFacts, kind: ProviderKind): ModelFailure {
  const { status, codes } = facts;
  if (isQuotaExhausted(facts, kind)) return 'quota_exhausted';
  if (isUnauthorised(facts)) return 'unauthorised';
  if (isUnknownModel(facts)) return 'unknown_model';
  if (codes.some((code) => /overloaded|unavailable/.test(code))) return 'overloaded';
  if (status === 429 || codes.some((code) => /rate_limit|resource_exhausted/.test(code)))
    return 'rate_limited';
  if (codes.some((code) => /^(invalid_request|invalid_argument|bad_request)/.test(code)))
    return 'bad_request';
  // An error without details within a stream, or in a reply with a success status, is a problem of the server.
  if (status === null || status < 300 || status >= 500) return 'overloaded';
  return status === 408 || status === 409 || status === 425 ? 'overloaded' : 'bad_request';
}

function unreadable(error: unknown): Failed {
  return { failure: 'malformed', message: `the reply could not be read: ${chainText(causesOf(error))}` };
}

function codeOf(error: Error): string | null {
  return 'code' in error && typeof error.code === 'string' ? error.code : null;
}

function chainText(chain: readonly Error[]): string {
  const texts = chain.map((cause) => (cause.message || codeOf(cause) || '').replace(/\s+/g, ' ').trim());
  // Errors that wrap others often repeat their message.
  const news = texts.filter(
    (text, index) => text !== '' && !texts.slice(0, index).some((told) => told.includes(text)),
  );
  return news.join(': ') || 'no reason given';
}

const longestMessage = 500;

function shortened(text: string): string {
  return text.length <= longestMessage ? text : `${text.slice(0, longestMessage - 1)}…`;
}

function hintFor(failure: ModelFailure, context: FailureContext): string {
  const { provider, model, kind, keyVariable, isStreaming } = context;
  const place = context.baseUrl ?? 'its base URL';
  const hints: Record<ModelFailure, string> = {
    key_missing: `Set ${keyVariable} to your key.`,
    unauthorised: `Check that ${keyVariable} is set, and that its key is right and may use ${model}.`,
    unknown_model: `Check the model's name (${model}) and the base URL (${place})${
      kind === 'openai-compatible' ? ', which most often ends in /v1' : ''
    }.`,
    bad_request: `Check whether ${model} takes such requests (temperature, limit of tokens, tools), and the base URL (${place}).`,
    quota_exhausted: `Look at plan, credit and limits of your account with ${provider}.`,
    rate_limited: `Ask less often: concurrent or requests_per_minute in the settings of ${provider}.`,
    overloaded: `Try again later, or see whether ${provider} reports a disturbance.`,
    timed_out: isStreaming
      ? `Raise stall_seconds in the settings of ${provider} if the model thinks for so long.`
      : `Without streaming nothing comes until the reply is complete: switch stream on, or raise stall_seconds in the settings of ${provider}.`,
    connection: `Check the network, and whether a server runs at ${place}.`,
    malformed: `Check whether ${place} speaks the interface ${kind}${
      isStreaming
        ? `; if it sends replies in one piece, set stream: false in the settings of ${provider}`
        : ''
    }.`,
  };
  const isOfInterface = ['unknown_model', 'bad_request', 'malformed'].includes(failure);
  return isOfInterface ? `${hints[failure]}${chatHint(context)}` : hints[failure];
}

/** Servers other than OpenAI's often lack its Responses API. */
function chatHint({ provider, kind, model, baseUrl }: FailureContext): string {
  const isOther = baseUrl !== null && baseUrl !== openaiUrl;
  if (kind !== 'openai' || !isOther || speaksChat(model)) return '';
  const setting =
    provider === 'openai'
      ? `name the model openai-compatible/${model} and set MLAB_OPENAI_COMPATIBLE_URL (or --base-url) to ${baseUrl}, MLAB_OPENAI_COMPATIBLE_API_KEY to its key`
      : `set kind: openai-compatible in the settings of ${provider}`;
  return ` mlab asks this model by OpenAI's Responses API (${baseUrl}/responses). If the server has chat completions only, ${setting}.`;
}
