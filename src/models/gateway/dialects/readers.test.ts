import { describe, expect, test } from 'vitest';
import { chatCompletions } from './chat-completions.ts';
import type { Dialect } from './dialect.ts';
import { generateContent } from './generate-content.ts';
import { messages } from './messages.ts';
import { responses } from './responses.ts';

function readBy({ createReader }: Dialect, ...pieces: object[]) {
  const reader = createReader();
  for (const piece of pieces) reader.add(piece);
  return reader.answer;
}

const delta = (tool_call: object) => ({ choices: [{ index: 0, delta: { tool_calls: [tool_call] } }] });

describe('what a provider counts', () => {
  test('includes tokens that OpenAI wrote to its cache', () => {
    const details = { cached_tokens: 1_000, cache_write_tokens: 90_000 };
    const counted = { input: 100_000, cached_input: 1_000, cache_write: 90_000, output: 10 };
    const chat = { prompt_tokens: 100_000, completion_tokens: 10, prompt_tokens_details: details };
    expect(readBy(chatCompletions, { usage: chat }).usage).toMatchObject(counted);
    const usage = { input_tokens: 100_000, output_tokens: 10, input_tokens_details: details };
    expect(readBy(responses, { status: 'completed', output: [], usage }).usage).toMatchObject(counted);
  });

  test('includes reasoning that is in the total alone', () => {
    const usage = { prompt_tokens: 32, completion_tokens: 9, total_tokens: 135 };
    const details = { completion_tokens_details: { reasoning_tokens: 94 } };
    expect(readBy(chatCompletions, { usage: { ...usage, ...details } }).usage).toMatchObject({
      ...{ input: 32, output: 103, reasoning: 94 },
    });
  });
});

describe('the calls of an answer', () => {
  test('are told apart by their ids, if all have the same index', () => {
    const { answer } = readBy(
      chatCompletions,
      delta({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x"' } }),
      delta({ index: 0, function: { arguments: ':1}' } }),
      delta({ index: 0, id: 'b', function: { name: 'g', arguments: '' } }),
      delta({ index: 0, id: 'b', function: { arguments: '{"y":2}' } }),
    );
    expect(answer).toMatchObject({
      tool_calls: [
        { id: 'a', name: 'f', input: { x: 1 } },
        { id: 'b', name: 'g', input: { y: 2 } },
      ],
    });
  });

  test('are those of the first of several answers', () => {
    const piece = (index: number, content: string) => ({ choices: [{ index, delta: { content } }] });
    const done = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
    const pieces = [piece(1, 'b'), piece(0, 'A'), piece(1, 'b'), piece(0, 'A'), done];
    expect(readBy(chatCompletions, ...pieces).answer).toMatchObject({ text: 'AA' });
  });

  test('are not those of tools that Anthropic runs', () => {
    const search = { type: 'server_tool_use', id: 'srv', name: 'web_search', input: {} };
    const text = { type: 'text', text: 'Found.' };
    const { answer } = readBy(
      messages,
      { type: 'message_start', message: { usage: { input_tokens: 5, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: search },
      { type: 'content_block_delta', index: 0, delta: { partial_json: '{"query":"x"}' } },
      { type: 'content_block_start', index: 1, content_block: text },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
      { type: 'message_stop' },
    );
    expect(answer).toEqual({ kind: 'answered', text: 'Found.', tool_calls: [], finish: 'stop' });
  });
});

test.each([
  [
    'OpenAI',
    chatCompletions,
    { tool_choice: { type: 'function', function: { name: 'review' } } },
    { tool_choice: 'required' },
  ],
  [
    'OpenAI responses',
    responses,
    { tool_choice: { type: 'function', name: 'review' } },
    { tool_choice: 'auto' },
  ],
  [
    'Anthropic',
    messages,
    { tool_choice: { type: 'tool', name: 'review' } },
    { tool_choice: { type: 'any' } },
  ],
  [
    'Google',
    generateContent,
    { toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['review'] } } },
    { toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
  ],
])(
  'a request in the format of %s tells whether it wants a call of one tool as its answer',
  (_, dialect, one, any) => {
    expect([one, any, {}].map((body) => dialect.read(body).isForced)).toEqual([true, false, false]);
  },
);
