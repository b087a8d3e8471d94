import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import type { ModelFailure, ModelRequest } from '../../schema/index.ts';
import { ModelUnavailable } from '../language-models.ts';
import type { AnsweredCall, GatewayReply } from './caller.ts';
import { type AskForProcess, GatewayServer } from './gateway-server.ts';

const usage = {
  input: 7,
  cached_input: 0,
  cache_write: 0,
  output: 3,
  reasoning: 0,
  source: 'provider' as const,
};
const hello = { messages: [{ role: 'user', content: 'Hello?' }] };
const open: GatewayServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server[Symbol.asyncDispose]();
});

async function listen(ask?: AskForProcess): Promise<{ server: GatewayServer; socket: string }> {
  const socket = join(temporaryFolder(), 'model.sock');
  const server = await GatewayServer.listen(socket, ask);
  open.push(server);
  return { server, socket };
}

function answered(text: string): AnsweredCall {
  const answer = { kind: 'answered' as const, text, tool_calls: [], finish: 'stop' as const };
  return { kind: 'answered', answer, answeredBy: 'gpt-secret', latencyMs: 1, usage, cost: 0.5 };
}

function unavailable(failure: ModelFailure): GatewayReply {
  return { kind: 'unavailable', error: new ModelUnavailable(failure, 'because', 'wait', []) };
}

function overQuota(quota: 'own' | 'shared'): GatewayReply {
  return { kind: 'over_quota', quota, exceeded: 'tokens', message: 'because' };
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

describe('the gateway on a socket', () => {
  test("answers in OpenAI's format, and does not reveal which model it is", async () => {
    const asked: ModelRequest[] = [];
    const { socket } = await listen(async (request) => {
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
    expect(JSON.stringify(body)).not.toContain('gpt-secret');
  });

  test('says that there is no model', async () => {
    const { server, socket } = await listen();
    const { status, body } = await post(socket, hello);
    expect([status, body.error?.code]).toEqual([503, 'no_model']);
    expect(body.error?.message).toContain('This run has no language model');
    expect(server.failure).toBeNull();
  });

  const closed = { kind: 'closed' as const, message: 'because' };
  test.each([
    ['its quota is used up', overQuota('own'), 402, 'over_budget', 'because'],
    ['the model does not take it', unavailable('bad_request'), 400, 'bad_request', /does not take this/],
    ['no calls are allowed now', closed, 409, 'closed', 'because'],
    ['the provider is down', unavailable('overloaded'), 502, 'unavailable', /does not answer/],
    ['others used up what all may use', overQuota('shared'), 402, 'over_budget', /What all runs together/],
  ] as const)('tells the process why there is no answer: %s', async (why, reply, expected, code, message) => {
    const { server, socket } = await listen(async () => reply);
    const { status, body } = await post(socket, hello);
    expect([status, body.error?.code]).toEqual([expected, code]);
    expect(body.error?.message).toMatch(message);
    // Only refusals that the process did not cause are failures of the service.
    const isExternal = code === 'unavailable' || why.startsWith('others');
    expect(server.failure).toBe(isExternal ? 'because' : null);
  });

  test('reveals nothing about an internal error, and reports it as a failure', async () => {
    const { server, socket } = await listen(() => Promise.reject(new Error('sk-secret in /home/me')));
    const { status, body } = await post(socket, hello);
    expect([status, body.error?.message]).toEqual([500, 'The harness could not answer.']);
    expect(server.failure).toBe('sk-secret in /home/me');
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

  test('has one address, and accepts at most a megabyte', async () => {
    const { socket } = await listen(async () => answered('Hi.'));
    expect((await post(socket, hello, '/v1/embeddings')).status).toBe(404);
    const long = { messages: [{ role: 'user', content: 'x'.repeat(2 ** 20) }] };
    expect((await post(socket, long)).status).toBe(413);
  });

  test('serves four requests at a time, and tells the fifth client to come back', async () => {
    const gate = Promise.withResolvers<void>();
    const { socket } = await listen(async () => {
      await gate.promise;
      return answered('Hi.');
    });
    const replies = Array.from({ length: 5 }, () => post(socket, hello));
    const first = await Promise.race(replies);
    expect([first.status, first.retryAfter]).toEqual([429, '1']);
    gate.resolve();
    const statuses = (await Promise.all(replies)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 200, 200, 200, 429]);
  });

  test('aborts calls in progress when it is closed', async () => {
    const { server, socket } = await listen(
      (_, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    );
    const reply = post(socket, hello).catch((error: Error) => error);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await server[Symbol.asyncDispose]();
    expect(await reply).toBeInstanceOf(Error);
    expect(server.failure).toBeNull();
  });
});
