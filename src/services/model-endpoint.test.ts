import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import type { ModelRequest, ToolReply } from '../schema/index.ts';
import { type AskForTool, ModelEndpoint } from './model-endpoint.ts';

const usage = {
  input: 7,
  cached_input: 0,
  cache_write: 0,
  output: 3,
  reasoning: 0,
  source: 'provider' as const,
};
const hello = { messages: [{ role: 'user', content: 'Hello?' }] };
const open: ModelEndpoint[] = [];
afterEach(async () => {
  for (const endpoint of open.splice(0)) await endpoint[Symbol.asyncDispose]();
});

async function listen(ask?: AskForTool): Promise<{ endpoint: ModelEndpoint; socket: string }> {
  const socket = join(temporaryFolder(), 'model.sock');
  const endpoint = await ModelEndpoint.listen(socket, ask);
  open.push(endpoint);
  return { endpoint, socket };
}

function answered(text: string, cost: number | null = 0.5): ToolReply {
  return { kind: 'answer', answer: { kind: 'answered', text, tool_calls: [], finish: 'stop' }, usage, cost };
}

interface Reply {
  status: number;
  retryAfter: string | undefined;
  body: { error?: { code: string; message: string }; choices?: { message: { content: string } }[] };
}

function post(socketPath: string, body: unknown, path = '/v1/chat/completions'): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ socketPath, path, method: 'POST' }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          retryAfter: response.headers['retry-after'],
          body: JSON.parse(text),
        }),
      );
    });
    request.on('error', reject);
    request.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
}

describe('the model endpoint', () => {
  test("answers in OpenAI's format, counts what it answered, and does not tell which model it is", async () => {
    const asked: ModelRequest[] = [];
    const { endpoint, socket } = await listen(async (request) => {
      asked.push(request);
      return answered('Hi.');
    });
    const { status, body } = await post(socket, {
      ...{ model: 'gpt-whatever', temperature: 0, max_tokens: 5, stop: 'END' },
      messages: [
        { role: 'developer', content: 'Be short.' },
        { role: 'user', content: [{ type: 'text', text: 'Hello?' }] },
      ],
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...{ object: 'chat.completion', model: 'model' },
      choices: [{ message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
    });
    expect(asked).toEqual([
      {
        ...{ role: 'fast', purpose: 'answer a tool', stop: ['END'] },
        messages: [
          { role: 'system', text: 'Be short.' },
          { role: 'user', text: 'Hello?' },
        ],
      },
    ]);
    await post(socket, hello);
    expect(endpoint.used).toEqual({ calls: 2, tokens: 20, money: 1, unpriced: 0 });
  });

  test('says that there is no model, and counts nothing', async () => {
    const { endpoint, socket } = await listen();
    const { status, body } = await post(socket, hello);
    expect([status, body.error?.code]).toEqual([503, 'no_model']);
    expect(body.error?.message).toContain('This run has no language model');
    expect(endpoint.used.calls).toBe(0);
    expect(endpoint.failure).toBeNull();
  });

  test.each([
    ['over_budget', 402, 'because'],
    ['bad_request', 400, 'The language model does not take this request.'],
    ['closed', 409, 'because'],
    ['unavailable', 502, 'The language model does not answer.'],
  ] as const)('tells the tool why it got no answer: %s', async (kind, expected, message) => {
    const { endpoint, socket } = await listen(async () => ({ kind, message: 'because' }));
    const { status, body } = await post(socket, hello);
    expect([status, body.error]).toMatchObject([expected, { code: kind, message }]);
    // Only what is not the tool's doing is a failure of the service.
    expect(endpoint.failure).toBe(kind === 'unavailable' ? 'because' : null);
  });

  test('that breaks says nothing of how, and is a failure', async () => {
    const { endpoint, socket } = await listen(() => Promise.reject(new Error('sk-secret in /home/me')));
    const { status, body } = await post(socket, hello);
    expect([status, body.error?.message]).toEqual([500, 'The harness could not answer.']);
    expect(endpoint.failure).toBe('sk-secret in /home/me');
  });

  test.each([
    ['no JSON', '{', /not JSON/],
    ['no messages', { messages: [] }, /messages/],
    ['a stream', { ...hello, stream: true }, /stream/],
    ['several answers', { ...hello, n: 2 }, /n: /],
    ['an image', { messages: [{ role: 'user', content: [{ type: 'image_url' }] }] }, /content/],
  ])('refuses %s without asking', async (_, body, message) => {
    const { socket } = await listen(() => Promise.reject(new Error('asked')));
    const reply = await post(socket, body);
    expect(reply.status).toBe(400);
    expect(reply.body.error?.message).toMatch(message);
  });

  test('has one address, and takes no more than a megabyte', async () => {
    const { socket } = await listen(async () => answered('Hi.'));
    expect((await post(socket, hello, '/v1/embeddings')).status).toBe(404);
    const long = { messages: [{ role: 'user', content: 'x'.repeat(2 ** 20) }] };
    expect((await post(socket, long)).status).toBe(413);
  });

  test('answers four at a time, and tells the fifth to come back', async () => {
    const gate = Promise.withResolvers<void>();
    const { endpoint, socket } = await listen(async () => {
      await gate.promise;
      return answered('Hi.');
    });
    const replies = Array.from({ length: 5 }, () => post(socket, hello));
    const first = await Promise.race(replies);
    expect([first.status, first.retryAfter]).toEqual([429, '1']);
    gate.resolve();
    const statuses = (await Promise.all(replies)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 200, 200, 200, 429]);
    expect(endpoint.used.calls).toBe(4);
  });

  test('gives up calls under way when it is closed', async () => {
    const { endpoint, socket } = await listen(
      (_, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    );
    const reply = post(socket, hello).catch((error: Error) => error);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await endpoint[Symbol.asyncDispose]();
    expect(await reply).toBeInstanceOf(Error);
    expect(endpoint.failure).toBeNull();
  });
});
