import { describe, expect, test } from 'vitest';
import { startProviderServer } from './server.ts';
import { inTurns } from './turns.ts';

const schema = {
  type: 'object',
  properties: { command: { type: 'string' }, is_background: { type: 'boolean' } },
  required: ['command', 'is_background'],
};
/** The same request in each format: a shell is offered, and was used once. */
const requests = {
  chat: {
    path: '/openai/v1/chat/completions',
    body: {
      model: 'm',
      messages: [
        { role: 'user', content: 'Work.' },
        { role: 'assistant', tool_calls: [] },
        { role: 'tool', tool_call_id: 'call_1', content: 'a.txt' },
      ],
      tools: [{ type: 'function', function: { name: 'bash', parameters: schema } }],
    },
  },
  responses: {
    path: '/openai/v1/responses',
    body: {
      model: 'm',
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Work.' }] },
        { type: 'function_call_output', call_id: 'call_1', output: 'a.txt' },
      ],
      tools: [{ type: 'function', name: 'shell', parameters: schema }],
    },
  },
  messages: {
    path: '/anthropic/v1/messages',
    body: {
      model: 'm',
      messages: [
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'a.txt' }] },
      ],
      tools: [{ name: 'Bash', input_schema: schema }],
    },
  },
  google: {
    path: '/google/v1beta/models/m:generateContent',
    body: {
      contents: [{ role: 'user', parts: [{ functionResponse: { name: 'run_shell_command' } }] }],
      tools: [{ functionDeclarations: [{ name: 'run_shell_command', parametersJsonSchema: schema }] }],
    },
  },
};

describe('a model that works in turns', () => {
  test.each(Object.entries(requests))(
    'finds the shell and its turn in a request: %s',
    async (_, { path, body }) => {
      await using server = await startProviderServer({
        answer: inTurns({ turns: [{ run: 'ls' }, { run: 'cat a.txt' }, { text: 'Ready.' }] }),
      });
      const reply = await fetch(server.url + path, { method: 'POST', body: JSON.stringify(body) });
      const text = await reply.text();
      expect(text).toMatch(/cat a\.txt/);
      expect(text).toMatch(/is_background/);
      expect(text).toMatch(/"(bash|shell|Bash|run_shell_command)"/);
    },
  );

  test('answers requests without tools separately', async () => {
    await using server = await startProviderServer({
      answer: inTurns({ turns: [{ run: 'ls' }], texts: ['A title'] }),
    });
    const ask = async () => {
      const body = JSON.stringify({ model: 'm', messages: [] });
      const reply = await fetch(`${server.baseUrls.openai}/chat/completions`, { method: 'POST', body });
      return reply.text();
    };
    expect([await ask(), await ask()]).toEqual([
      expect.stringContaining('A title'),
      expect.stringContaining('Done.'),
    ]);
  });
});
