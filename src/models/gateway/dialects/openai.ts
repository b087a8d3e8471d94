import { z } from 'zod';
import type { Counts } from './answer-draft.ts';
import type { ErrorCode, HttpAnswer } from './dialect.ts';
import { OptionalNumber } from './reading.ts';

/** What the usage says about the input tokens, in both of OpenAI's interfaces; they are part of these. */
export const InputDetails = z
  .looseObject({ cached_tokens: OptionalNumber, cache_write_tokens: OptionalNumber })
  .nullish()
  .catch(null);
export const OutputDetails = z.looseObject({ reasoning_tokens: OptionalNumber }).nullish().catch(null);

type Count = number | null | undefined;

/** Some servers count reasoning in the total alone. */
export function countsOf(usage: {
  input: Count;
  output: Count;
  total: Count;
  read: z.infer<typeof InputDetails>;
  written: z.infer<typeof OutputDetails>;
}): Counts {
  const { input, output, total, read, written } = usage;
  return {
    input: input ?? 0,
    output: Math.max(output ?? 0, (total ?? 0) - (input ?? 0)),
    cachedInput: read?.cached_tokens ?? 0,
    cacheWrite: read?.cache_write_tokens ?? 0,
    reasoning: written?.reasoning_tokens ?? 0,
  };
}

const errors: Record<ErrorCode, { status: number; type: string; code: string | null }> = {
  unauthorised: { status: 401, type: 'invalid_request_error', code: 'invalid_api_key' },
  not_found: { status: 404, type: 'invalid_request_error', code: null },
  bad_request: { status: 400, type: 'invalid_request_error', code: null },
  no_websocket: { status: 426, type: 'invalid_request_error', code: null },
  too_large: { status: 413, type: 'invalid_request_error', code: null },
  // OpenAI itself returns 429, which many clients retry whatever the code says; none of them retries 403.
  over_quota: { status: 403, type: 'insufficient_quota', code: 'insufficient_quota' },
  closed: { status: 403, type: 'insufficient_quota', code: 'insufficient_quota' },
  rate_limited: { status: 429, type: 'requests', code: 'rate_limit_exceeded' },
  unavailable: { status: 502, type: 'server_error', code: null },
  internal: { status: 500, type: 'server_error', code: null },
};

/** An error in the format of both of OpenAI's interfaces. */
export function openaiError(code: ErrorCode, message: string): HttpAnswer {
  const { status, ...names } = errors[code];
  return { status, body: { error: { message, param: null, ...names } } };
}

/** Codex, which uses Responses, retries every status except 400. */
export function responsesError(code: ErrorCode, message: string): HttpAnswer {
  const { status, body } = openaiError(code, message);
  return { status: status === 403 ? 400 : status, body };
}

export function openaiModels(names: readonly string[]): object {
  return { object: 'list', data: names.map(openaiModel) };
}

export function openaiModel(id: string): object {
  return { id, object: 'model', created: 0, owned_by: 'mlab' };
}
