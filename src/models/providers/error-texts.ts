import type { ErrorFacts } from './error-facts.ts';
import type { ProviderKind } from './provider-state.ts';

/**
 * The meaning of errors, by the providers' own codes if there are any, else by their texts. The texts come from
 * Anthropic, OpenAI, Google, Mistral, OpenRouter, Groq, vLLM, SGLang, llama.cpp, Ollama and TGI.
 */

const tooLong = [
  /prompt is too long/i, // Anthropic
  /exceeds? (the )?context (limit|window|length|size)/i, // Anthropic, OpenAI's Responses, Ollama
  /maximum context length/i, // OpenAI's Chat Completions, vLLM, Mistral
  /input token count.{0,60}exceeds the maximum/i, // Google
  /longer than the (maximum model length|model's context length)/i, // vLLM, SGLang
  /exceeds (the )?(available|model's( maximum)?|max(imum)?) context (size|length)/i, // llama.cpp, SGLang
  /exceeded max context length/i, // Ollama
  /`?inputs`? tokens \+ `?max_new_tokens`? must be/i, // TGI
  /reduce the length of the messages/i, // OpenAI, Groq
];

/** Whether the request has more tokens than the model can read. */
export function isContextTooLong(facts: ErrorFacts): boolean {
  if (isBeyondRate(facts)) return false;
  if (
    facts.codes.some((code) =>
      /^(context_length_exceeded|exceed_context_size_error|request_too_large)$/.test(code),
    )
  )
    return true;
  return (
    isRequestError(facts) && (facts.status === 413 || tooLong.some((words) => words.test(facts.message)))
  );
}

/** Whether the content was declined before the model answered. */
export function isRefusal(facts: ErrorFacts): boolean {
  if (
    facts.codes.some((code) =>
      /^(content_filter|content_policy_violation|responsibleaipolicyviolation)$/.test(code),
    )
  )
    return true;
  const words = /blocked by (our )?content filter|violat\w{1,10} (of )?(our|the) (usage|content) polic/i;
  return isRequestError(facts) && words.test(facts.message);
}

/** Whether no request will succeed until somebody pays, raises a limit or the day ends. */
export function isQuotaExhausted(facts: ErrorFacts, kind: ProviderKind): boolean {
  const { status, codes, message, body } = facts;
  if (status === 402 || isBeyondRate(facts)) return true;
  if (codes.some((code) => /insufficient_quota|billing|insufficient_(credits?|balance)/.test(code)))
    return true;
  // Google mentions "quota" and "billing details" for every limit: only daily limits do not pass soon.
  if (kind === 'google' && status === 429) return /"quotaId"\s*:\s*"[^"]*PerDay/i.test(body);
  return /credit balance is too low|reached your specified (API )?usage limits|exceeded your current quota|insufficient (credits|balance)|(billing|payment) (is |must be )?(disabled|required|enabled|not active)|enable billing/i.test(
    message,
  );
}

/** A single request that exceeds the account's limit per minute never succeeds. */
function isBeyondRate({ message }: ErrorFacts): boolean {
  return /request too large.{0,200}tokens per (min|day)/i.test(message);
}

export function isUnauthorised({ status, codes, message }: ErrorFacts): boolean {
  if (status === 401 || status === 403) return true;
  if (
    codes.some((code) =>
      /^(authentication_error|permission_error|invalid_api_key|api_key_invalid|unauthenticated|permission_denied)$/.test(
        code,
      ),
    )
  )
    return true;
  return status === 400 && /api[ _]key (is )?(not valid|invalid|expired)/i.test(message);
}

export function isUnknownModel(facts: ErrorFacts): boolean {
  const { status, codes, message } = facts;
  if (status === 404 || codes.some((code) => /^(model_not_found|not_found_error)$/.test(code))) return true;
  return isRequestError(facts) && /not a valid model|model .{0,100}(does not exist|not found)/i.test(message);
}

/** Whether it is about the request. The package for Anthropic gives errors within a stream the status 500. */
function isRequestError({ status, codes }: ErrorFacts): boolean {
  const isServerError = status !== null && status >= 500;
  return !isServerError || codes.includes('invalid_request_error');
}
