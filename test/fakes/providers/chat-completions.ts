import { z } from 'zod';
import { type CompleteReply, dataEvent, type Format, pieces, withoutRefusal } from './reply.ts';

const Request = z.looseObject({
  model: z.string(),
  messages: z.array(z.unknown()),
  stream: z.boolean().optional(),
});

const finishReasons: Record<CompleteReply['finish'], string> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  refused: 'content_filter',
  context_full: 'length',
};
const errorCodes: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'invalid_api_key',
  404: 'model_not_found',
  429: 'rate_limit_exceeded',
};

/** Chat Completions, the API of OpenAI and of most other servers. */
export function chatCompletions(path: string, { hasRefusals }: { hasRefusals: boolean }): Format {
  const written = (reply: CompleteReply) => (hasRefusals ? reply : withoutRefusal(reply));
  return {
    read(asked, body) {
      if (asked !== path) return null;
      const { model, stream } = Request.parse(body);
      return { model, isStreaming: stream === true };
    },
    json: (reply) => completion(written(reply)),
    events: (reply) => chunks(written(reply)),
    error: (status, message) => ({
      error: {
        message,
        type: status >= 500 ? 'server_error' : 'invalid_request_error',
        param: null,
        code: errorCodes[status] ?? null,
      },
    }),
    overloadEvent: () =>
      dataEvent({
        error: { message: 'The engine is currently overloaded', type: 'server_error', code: 503 },
      }),
  };
}

function completion(reply: CompleteReply) {
  const message = {
    role: 'assistant',
    content: reply.text === '' ? null : reply.text,
    ...(reply.refusal === '' ? {} : { refusal: reply.refusal }),
    ...(reply.reasoning === '' ? {} : { reasoning_content: reply.reasoning }),
    ...(reply.toolCalls.length === 0 ? {} : { tool_calls: reply.toolCalls.map(toolCall) }),
  };
  return {
    ...head(reply, 'chat.completion'),
    choices: [{ index: 0, message, finish_reason: finishReason(reply) }],
    usage: usage(reply) ?? undefined,
  };
}

function chunks(reply: CompleteReply): string[] {
  const counts = { ...head(reply, 'chat.completion.chunk'), choices: [], usage: usage(reply) };
  return [
    chunk(reply, { role: 'assistant', content: '' }),
    ...pieces(reply.reasoning).map((reasoning_content) => chunk(reply, { reasoning_content })),
    ...pieces(reply.text).map((content) => chunk(reply, { content })),
    ...pieces(reply.refusal).map((refusal) => chunk(reply, { refusal })),
    ...reply.toolCalls.flatMap((call, index) => toolCallChunks(reply, call, index)),
    chunk(reply, {}, finishReason(reply)),
    ...(reply.usage === null ? [] : [dataEvent(counts)]),
    'data: [DONE]\n\n',
  ];
}

/** With a separate field for refusals, a refusal is a reply that ended normally. */
function finishReason({ finish, refusal }: CompleteReply): string {
  return refusal === '' ? finishReasons[finish] : 'stop';
}

type Call = CompleteReply['toolCalls'][number];

function head({ model }: CompleteReply, object: string) {
  return { id: 'chatcmpl-1', object, created: 1_700_000_000, model };
}

function chunk(reply: CompleteReply, delta: object, finish_reason: string | null = null): string {
  return dataEvent({
    ...head(reply, 'chat.completion.chunk'),
    choices: [{ index: 0, delta, finish_reason }],
  });
}

function toolCall({ id, name, input }: Call) {
  return { id, type: 'function', function: { name, arguments: input } };
}

function toolCallChunks(reply: CompleteReply, call: Call, index: number): string[] {
  const first = { index, ...toolCall({ ...call, input: '' }) };
  return [
    chunk(reply, { tool_calls: [first] }),
    ...pieces(call.input).map((part) =>
      chunk(reply, { tool_calls: [{ index, function: { arguments: part } }] }),
    ),
  ];
}

function usage({ usage }: CompleteReply) {
  if (usage === null) return null;
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.total,
    prompt_tokens_details: { cached_tokens: usage.cachedInput },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}
