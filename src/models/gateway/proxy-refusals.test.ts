import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { postTo, proxyPlace, testedProxy } from '../../../test/fixtures/proxy-place.ts';

const events = { 'content-type': 'text/event-stream' };
const long = 'x'.repeat(300_000);

describe('a provider that refuses a request by an event of a stream', () => {
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  const limited = { code: 'rate_limit_exceeded', message: 'Try again in 20s.' };
  const failed = { status: 'failed', output: [], usage: null, error: limited };
  const anthropic = { model: 'anthropic/claude-opus-4-5', path: '/v1/messages' };
  const openai = { model: 'openai/gpt-5', path: '/v1/responses' };

  test.each([
    [anthropic, [overloaded], 'overloaded', { messages: [{ role: 'user', content: long }], max_tokens: 9 }],
    [
      openai,
      [
        { type: 'response.created', response: { model: 'gpt-5' } },
        { type: 'response.failed', response: failed },
      ],
      'rate_limited',
      { input: long },
    ],
  ])('is not paid for it: $model', async ({ model, path }, pieces, failure, body) => {
    const { url, records } = await testedProxy(
      () => ({ headers: events, pieces: pieces.map((piece) => `data: ${JSON.stringify(piece)}\n\n`) }),
      { model },
    );
    await (await postTo(url, path, { model: model.split('/')[1], ...body, stream: true })).text();
    expect(records).toMatchObject([
      { failure: { failure }, usage: { input: 0, output: 0, source: 'provider' }, cost: 0 },
    ]);
  });
});

describe('a connection that the provider closes', () => {
  /** A server that closes the connection of the second request after so many milliseconds. */
  async function closing(afterMs: number) {
    let seen = 0;
    const server = createServer((request, response) => {
      seen += 1;
      request.resume();
      if (seen === 2) setTimeout(() => request.socket.resetAndDestroy(), afterMs);
      else response.end('{"choices":[{"message":{"content":"Hi."},"finish_reason":"stop"}]}');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const place = await proxyPlace({ model: 'openai/gpt-4o', baseUrl: `http://127.0.0.1:${port}/v1` });
    onTestFinished(async () => {
      await place[Symbol.asyncDispose]();
      server.close();
    });
    const ask = async () =>
      (await postTo(place.url, '/v1/chat/completions', { model: 'gpt-4o', messages: [] })).status;
    return { ask, seen: () => seen };
  }

  test.each([
    ['just as a request begins: it is sent again', 0, 200, 3],
    ['after a while: the answer may have been paid for', 1_200, 502, 2],
  ])('%s', async (_, afterMs, status, requests) => {
    const { ask, seen } = await closing(afterMs);
    expect(await ask()).toBe(200);
    expect(await ask()).toBe(status);
    expect(seen()).toBe(requests);
  });
});

test('only names of small models are answered by the fast one', async () => {
  const { url, records } = await testedProxy(
    () => ({ headers: { 'content-type': 'application/json' }, pieces: ['{"candidates":[]}'] }),
    { model: 'google/gemini-3-pro', fast: 'google/gemini-3-flash', basePath: '/v1beta' },
  );
  const names = ['gemini-2.5-pro', 'gemini-3-pro-preview', 'gemini-2.5-flash-lite', 'gpt-5-mini'];
  for (const name of names) await postTo(url, `/v1beta/models/${name}:generateContent`, { contents: [] });
  expect(records.map(({ request }) => request.role)).toEqual(['agent', 'agent', 'fast', 'fast']);
});

test('a compressed request is named as the reason', async () => {
  const { url, records } = await testedProxy(() => ({ pieces: [] }), { model: 'openai/gpt-4o' });
  const headers = { 'content-encoding': 'zstd' };
  const reply = await postTo(url, '/v1/chat/completions', 'not JSON', { headers });
  expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining('compressed (zstd)')]);
  expect(records).toEqual([]);
});
