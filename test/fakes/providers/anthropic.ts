import { z } from 'zod';
import { type CompleteReply, type Format, pieces, withoutRefusal } from './reply.ts';

const Request = z.looseObject({
  model: z.string(),
  messages: z.array(z.unknown()),
  stream: z.boolean().optional(),
});

const stopReasons: Record<CompleteReply['finish'], string> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  refused: 'refusal',
  context_full: 'model_context_window_exceeded',
};
const errorTypes: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

/** Anthropic's Messages API. */
export const anthropic: Format = {
  read(path, body) {
    if (path.split('?', 1)[0] !== '/anthropic/v1/messages') return null;
    const { model, stream } = Request.parse(body);
    return { model, isStreaming: stream === true };
  },
  json: (reply) => ({
    ...message(reply),
    content: blocks(reply),
    stop_reason: stopReasons[reply.finish],
    usage: usage(reply),
  }),
  events(reply) {
    const start = {
      ...message(reply),
      content: [],
      stop_reason: null,
      usage: { ...usage(reply), output_tokens: 1 },
    };
    return [
      event('message_start', { message: start }),
      event('ping', {}),
      ...blocks(reply).flatMap(blockEvents),
      event('message_delta', {
        delta: { stop_reason: stopReasons[reply.finish], stop_sequence: null },
        usage: usage(reply),
      }),
      event('message_stop', {}),
    ];
  },
  error: (status, text) => ({
    type: 'error',
    error: { type: errorTypes[status] ?? 'api_error', message: text },
    request_id: 'req_1',
  }),
  overloadEvent: () => event('error', { error: { type: 'overloaded_error', message: 'Overloaded' } }),
};

type Block =
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: unknown; written: string };

function message({ model }: CompleteReply) {
  return { id: 'msg_1', type: 'message', role: 'assistant', model, stop_sequence: null };
}

function blocks(given: CompleteReply): Block[] {
  const reply = withoutRefusal(given);
  return [
    ...(reply.reasoning === ''
      ? []
      : [{ type: 'thinking' as const, thinking: reply.reasoning, signature: 'c2lnbmVk' }]),
    ...(reply.text === '' ? [] : [{ type: 'text' as const, text: reply.text }]),
    ...reply.toolCalls.map(({ id, name, input }) => ({
      type: 'tool_use' as const,
      id,
      name,
      input: parsed(input),
      written: input,
    })),
  ];
}

function parsed(input: string): unknown {
  try {
    return JSON.parse(input || '{}');
  } catch {
    return input;
  }
}

function blockEvents(block: Block, index: number): string[] {
  const delta = (value: object) => event('content_block_delta', { index, delta: value });
  const start = (value: object) => event('content_block_start', { index, content_block: value });
  const stop = event('content_block_stop', { index });
  switch (block.type) {
    case 'thinking':
      return [
        start({ type: 'thinking', thinking: '', signature: '' }),
        ...pieces(block.thinking).map((thinking) => delta({ type: 'thinking_delta', thinking })),
        delta({ type: 'signature_delta', signature: block.signature }),
        stop,
      ];
    case 'text':
      return [
        start({ type: 'text', text: '' }),
        ...pieces(block.text).map((text) => delta({ type: 'text_delta', text })),
        stop,
      ];
    case 'tool_use':
      return [
        start({ type: 'tool_use', id: block.id, name: block.name, input: {} }),
        ...pieces(block.written).map((partial_json) => delta({ type: 'input_json_delta', partial_json })),
        stop,
      ];
  }
}

function usage({ usage }: CompleteReply) {
  const counts = usage ?? { input: 0, output: 0, cachedInput: 0, cacheWrite: 0, reasoning: 0 };
  return {
    input_tokens: counts.input - counts.cachedInput - counts.cacheWrite,
    cache_read_input_tokens: counts.cachedInput,
    cache_creation_input_tokens: counts.cacheWrite,
    output_tokens: counts.output,
    ...(counts.reasoning > 0 ? { output_tokens_details: { thinking_tokens: counts.reasoning } } : {}),
  };
}

function event(type: string, value: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...value })}\n\n`;
}
