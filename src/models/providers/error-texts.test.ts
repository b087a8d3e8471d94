import { describe, expect, it } from 'vitest';
import { startProviderServer, variablesFor } from '../../../test/fakes/providers/index.ts';
import { ProviderError, type ProviderRequest } from '../provider-adapter.ts';
import { createProviderAdapter, createRedactor, explainReply, type FailureContext } from './index.ts';

const request: ProviderRequest = {
  messages: [{ role: 'user', text: 'Say hello.' }],
  tools: [],
  stop: [],
  temperature: null,
  maxOutputTokens: 100,
};

/** The kind of answer or failure that results from a provider's error. */
async function meaningOf(
  model: string,
  status: number,
  body: unknown,
  type = 'application/json',
): Promise<string> {
  const headers = { 'content-type': type };
  await using server = await startProviderServer({ faults: [{ kind: 'status', status, body, headers }] });
  const adapter = await createProviderAdapter(model, {}, variablesFor(server));
  try {
    return (await adapter.call(request, AbortSignal.timeout(10_000))).answer.kind;
  } catch (error) {
    if (error instanceof ProviderError) return error.failure;
    throw error;
  }
}

const anthropic = (type: string, message: string) => ({ type: 'error', error: { type, message } });
const openai = (message: string, code: string | null, type = 'invalid_request_error') => ({
  error: { message, type, param: null, code },
});
const google = (code: number, status: string, message: string, details: unknown[] = []) => ({
  error: { code, message, status, details },
});

/** Real error messages of the providers. */
const said: [meaning: string, model: string, status: number, body: unknown][] = [
  [
    'context_too_long',
    'anthropic/m',
    400,
    anthropic('invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'),
  ],
  [
    'context_too_long',
    'anthropic/m',
    400,
    anthropic(
      'invalid_request_error',
      'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000',
    ),
  ],
  [
    'context_too_long',
    'anthropic/m',
    413,
    anthropic('request_too_large', 'Request exceeds the maximum size'),
  ],
  [
    'context_too_long',
    'openai/gpt-5',
    400,
    openai('Your input exceeds the context window of this model.', 'context_length_exceeded'),
  ],
  [
    'context_too_long',
    'openai/gpt-4',
    400,
    openai(
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
      null,
    ),
  ],
  [
    'context_too_long',
    'google/m',
    400,
    google(
      400,
      'INVALID_ARGUMENT',
      'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    ),
  ],
  [
    'context_too_long',
    'openai-compatible/vllm',
    400,
    {
      object: 'error',
      message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
  ],
  [
    'context_too_long',
    'openai-compatible/vllm',
    400,
    {
      error: {
        message: 'The decoder prompt (length 5000) is longer than the maximum model length of 4096.',
        type: 'BadRequestError',
        code: 400,
      },
    },
  ],
  [
    'context_too_long',
    'openai-compatible/llama.cpp',
    400,
    {
      error: {
        code: 400,
        message: 'request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it',
        type: 'exceed_context_size_error',
        n_ctx: 4096,
      },
    },
  ],
  [
    'context_too_long',
    'openai-compatible/llama.cpp',
    500,
    {
      error: {
        code: 500,
        message: 'the request exceeds the available context size',
        type: 'exceed_context_size_error',
      },
    },
  ],
  [
    'context_too_long',
    'openai-compatible/ollama',
    400,
    { error: { message: 'prompt too long; exceeded max context length by 120 tokens', type: 'api_error' } },
  ],
  [
    'context_too_long',
    'openai-compatible/ollama',
    400,
    { error: 'the input length exceeds the context length' },
  ],
  [
    'context_too_long',
    'openai-compatible/tgi',
    422,
    {
      error:
        'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens',
      error_type: 'validation',
    },
  ],
  [
    'context_too_long',
    'openai-compatible/sglang',
    400,
    {
      object: 'error',
      message: "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
      code: 400,
    },
  ],
  [
    'context_too_long',
    'openai-compatible/mistral',
    400,
    {
      object: 'error',
      message: 'Prompt contains 40000 tokens, too large for model with 32768 maximum context length',
      type: 'invalid_request_error',
    },
  ],

  [
    'quota_exhausted',
    'anthropic/m',
    400,
    anthropic('invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'),
  ],
  [
    'quota_exhausted',
    'anthropic/m',
    400,
    anthropic(
      'invalid_request_error',
      'You have reached your specified API usage limits. You will regain access on 2026-01-01.',
    ),
  ],
  [
    'quota_exhausted',
    'openai/gpt-5',
    429,
    openai(
      'You exceeded your current quota, please check your plan and billing details.',
      'insufficient_quota',
      'insufficient_quota',
    ),
  ],
  [
    'quota_exhausted',
    'openai/gpt-4o',
    429,
    openai(
      'Request too large for gpt-4o in organization org on tokens per min (TPM): Limit 30000, Requested 50000.',
      'rate_limit_exceeded',
      'tokens',
    ),
  ],
  [
    'quota_exhausted',
    'google/m',
    429,
    google(
      429,
      'RESOURCE_EXHAUSTED',
      'You exceeded your current quota, please check your plan and billing details.',
      [{ violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier' }] }],
    ),
  ],
  [
    'quota_exhausted',
    'openai-compatible/openrouter',
    402,
    { error: { message: 'Insufficient credits', code: 402 } },
  ],
  [
    'rate_limited',
    'google/m',
    429,
    google(
      429,
      'RESOURCE_EXHAUSTED',
      'You exceeded your current quota, please check your plan and billing details.',
      [{ violations: [{ quotaId: 'GenerateRequestsPerMinutePerProjectPerModel' }] }],
    ),
  ],
  [
    'rate_limited',
    'openai/gpt-5',
    429,
    openai(
      'Rate limit reached for gpt-5 on requests per min (RPM): Limit 3. Please try again in 20s.',
      'rate_limit_exceeded',
      'requests',
    ),
  ],

  [
    'unauthorised',
    'google/m',
    400,
    google(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' },
    ]),
  ],
  [
    'unauthorised',
    'openai/gpt-5',
    401,
    openai('Incorrect API key provided: sk-abcd***wxyz.', 'invalid_api_key'),
  ],
  [
    'unknown_model',
    'openai/gpt-9',
    400,
    openai("The requested model 'gpt-9' does not exist.", 'model_not_found'),
  ],
  [
    'unknown_model',
    'openai-compatible/ollama',
    404,
    { error: { message: 'model "llama9" not found, try pulling it first', type: 'api_error' } },
  ],
  [
    'unknown_model',
    'openai-compatible/openrouter',
    400,
    { error: { message: 'x/y is not a valid model ID', code: 400 } },
  ],

  [
    'refused',
    'anthropic/m',
    400,
    anthropic('invalid_request_error', 'Output blocked by content filtering policy'),
  ],
  [
    'refused',
    'openai/gpt-5',
    400,
    openai(
      'Invalid prompt: your prompt was flagged as potentially violating our usage policy.',
      'invalid_prompt',
    ),
  ],
  [
    'refused',
    'openai-compatible/azure',
    400,
    {
      error: {
        message: 'The response was filtered due to the prompt triggering the content management policy.',
        code: 'content_filter',
        status: 400,
      },
    },
  ],

  ['overloaded', 'anthropic/m', 529, anthropic('overloaded_error', 'Overloaded')],
  [
    'overloaded',
    'google/m',
    503,
    google(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
  ],
  [
    'overloaded',
    'openai-compatible/openrouter',
    200,
    { error: { message: 'Provider returned error', code: 502 } },
  ],
  [
    'bad_request',
    'openai/gpt-5',
    400,
    openai("Unsupported parameter: 'temperature' is not supported with this model.", 'unsupported_parameter'),
  ],
  ['bad_request', 'openai-compatible/vllm', 422, { detail: 'Field required' }],
  ['malformed', 'openai-compatible/page', 200, '<html>Welcome: our maximum context length is large</html>'],
];

describe('the errors of providers', () => {
  it.each(said)('mean %s (%s, status %i, %j)', async (meaning, model, status, body) => {
    expect(await meaningOf(model, status, body)).toBe(meaning);
  });
});

describe('an error that is no JSON, or of many MiB', () => {
  const context: FailureContext = {
    ...{ provider: 'test', kind: 'openai', model: 'm', keyVariable: 'KEY', baseUrl: null, isStreaming: true },
    redactor: createRedactor({}, { OPENAI_API_KEY: 'sk-of-this-test-1234567890' }),
  };

  it.each(['<', '<script', '<style></title>', 'violat', ' \t', 'try again in ', 'request too large '])(
    'is told in a few words, whatever it repeats: %j',
    (piece) => {
      const long = piece.repeat(2 ** 23 / piece.length);
      const message = expect.stringMatching(/^.{1,500}$/s);
      for (const body of [long, JSON.stringify({ error: { message: long } })])
        expect(explainReply(400, {}, body, context)).toMatchObject({ failure: 'bad_request', message });
    },
  );

  it('is told by the words of a page', () => {
    const page =
      '<html><title>503</title><STYLE>a < b {}</style><script>if (a > b) f();</script><h1>Sorry</h1>\n<p class="a">Come <b>later</b>';
    expect(explainReply(503, {}, page, context)).toMatchObject({
      failure: 'overloaded',
      message: 'test: HTTP 503: Sorry Come later (HTTP 503)',
    });
  });
});

describe('the errors of providers within a stream', () => {
  const message = "This model's maximum context length is 4096 tokens.";
  it.each([
    ['openai-compatible/vllm', { error: { message, code: 400 } }],
    ['openai-compatible/vllm', { object: 'error', message, code: 400 }],
    ['openai/gpt-4o', { error: { message, type: 'invalid_request_error', code: null } }],
    [
      'openai/gpt-5',
      { type: 'error', sequence_number: 1, code: 'context_length_exceeded', message, param: null },
    ],
    [
      'openai/gpt-5',
      {
        type: 'response.failed',
        sequence_number: 1,
        response: { id: 'r', status: 'failed', error: { code: 'context_length_exceeded', message } },
      },
    ],
    ['google/m', { error: { code: 400, message, status: 'INVALID_ARGUMENT' } }],
    [
      'anthropic/m',
      { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long' } },
    ],
  ])('means the same (%s, %j)', async (model, event) => {
    expect(await meaningOf(model, 200, `data: ${JSON.stringify(event)}\n\n`, 'text/event-stream')).toBe(
      'context_too_long',
    );
  });
});
