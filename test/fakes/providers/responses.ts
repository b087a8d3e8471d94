import { z } from 'zod';
import { type CompleteReply, dataEvent, type Format, pieces } from './reply.ts';

const Request = z.looseObject({
  model: z.string(),
  input: z.union([z.string(), z.array(z.unknown())]),
  stream: z.boolean().optional(),
});

const errorCodes: Record<number, string> = {
  401: 'invalid_api_key',
  404: 'model_not_found',
  429: 'rate_limit_exceeded',
};
const incompleteReasons: Partial<Record<CompleteReply['finish'], string>> = {
  length: 'max_output_tokens',
  context_full: 'max_output_tokens',
  refused: 'content_filter',
};

/** OpenAI's Responses API. */
export const responses: Format = {
  read(path, body) {
    if (path !== '/openai/v1/responses') return null;
    const { model, stream } = Request.parse(body);
    return { model, isStreaming: stream === true };
  },
  json: (reply) => response(reply, items(reply)),
  events(reply) {
    const parts: object[] = [
      { type: 'response.created', response: { ...response(reply, []), status: 'in_progress', usage: null } },
      ...items(reply).flatMap(itemEvents),
      {
        type: incompleteReason(reply) === undefined ? 'response.completed' : 'response.incomplete',
        response: response(reply, items(reply)),
      },
    ];
    return parts.map((part, sequence_number) => dataEvent({ ...part, sequence_number }));
  },
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
      type: 'error',
      sequence_number: 3,
      error: {
        type: 'server_error',
        code: 'server_is_overloaded',
        message: 'Our servers are currently overloaded. Please try again later.',
        param: null,
      },
    }),
};

type Item =
  | {
      type: 'reasoning';
      id: string;
      encrypted_content: string;
      summary: { type: 'summary_text'; text: string }[];
    }
  | { type: 'message'; id: string; role: 'assistant'; status: string; content: (OutputText | Refusal)[] }
  | { type: 'function_call'; id: string; call_id: string; name: string; arguments: string; status: string };
interface OutputText {
  type: 'output_text';
  text: string;
  annotations: [];
}

interface Refusal {
  type: 'refusal';
  refusal: string;
}

function response(reply: CompleteReply, output: Item[]) {
  const reason = incompleteReason(reply);
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_700_000_000,
    model: reply.model,
    status: reason === undefined ? 'completed' : 'incomplete',
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    output,
    usage: usage(reply),
  };
}

/** With a separate field for refusals, a refusal is a reply that ended normally. */
function incompleteReason({ finish, refusal }: CompleteReply): string | undefined {
  return refusal === '' ? incompleteReasons[finish] : undefined;
}

function items(reply: CompleteReply): Item[] {
  return [
    ...(reply.reasoning === '' ? [] : [reasoningItem(reply.reasoning)]),
    ...messageItems(reply),
    ...reply.toolCalls.map(({ id, name, input }) => ({
      type: 'function_call' as const,
      id: `fc_${id}`,
      call_id: id,
      name,
      arguments: input,
      status: 'completed',
    })),
  ];
}

function reasoningItem(text: string): Item {
  return {
    type: 'reasoning',
    id: 'rs_1',
    encrypted_content: 'sealed',
    summary: [{ type: 'summary_text', text }],
  };
}

function messageItems({ text, refusal }: CompleteReply): Item[] {
  const content = [
    ...(text === '' ? [] : [{ type: 'output_text' as const, text, annotations: [] as [] }]),
    ...(refusal === '' ? [] : [{ type: 'refusal' as const, refusal }]),
  ];
  if (content.length === 0) return [];
  return [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content }];
}

function itemEvents(item: Item, output_index: number): object[] {
  const done = { type: 'response.output_item.done', output_index, item };
  const added = (empty: Item) => ({ type: 'response.output_item.added', output_index, item: empty });
  const place = { item_id: item.id, output_index };
  switch (item.type) {
    case 'reasoning': {
      const at = { ...place, summary_index: 0 };
      const text = item.summary.map((part) => part.text).join('');
      return [
        added({ ...item, summary: [], encrypted_content: '' }),
        { type: 'response.reasoning_summary_part.added', ...at, part: { type: 'summary_text', text: '' } },
        ...pieces(text).map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...at, delta })),
        { type: 'response.reasoning_summary_part.done', ...at, part: { type: 'summary_text', text } },
        done,
      ];
    }
    case 'message':
      return [
        added({ ...item, content: [], status: 'in_progress' }),
        ...item.content.flatMap((part, content_index) =>
          part.type === 'refusal'
            ? pieces(part.refusal).map((delta) => ({
                type: 'response.refusal.delta',
                ...place,
                content_index,
                delta,
              }))
            : pieces(part.text).map((delta) => ({
                type: 'response.output_text.delta',
                ...place,
                content_index,
                delta,
              })),
        ),
        done,
      ];
    case 'function_call':
      return [
        added({ ...item, arguments: '', status: 'in_progress' }),
        ...pieces(item.arguments).map((delta) => ({
          type: 'response.function_call_arguments.delta',
          ...place,
          delta,
        })),
        { type: 'response.function_call_arguments.done', ...place, arguments: item.arguments },
        done,
      ];
  }
}

function usage({ usage }: CompleteReply) {
  if (usage === null) return null;
  return {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cachedInput },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.input + usage.output,
  };
}
