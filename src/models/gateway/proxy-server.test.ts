import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { fakeKeys, type RawReply, type RawRequest } from '../../../test/fakes/providers/index.ts';
import { dialectPlaces, postTo, testedProxy } from '../../../test/fixtures/proxy-place.ts';
import { ProviderSettings } from '../../schema/index.ts';
import { Quota } from '../quota.ts';

const json = { 'content-type': 'application/json' };
const events = { 'content-type': 'text/event-stream' };
const chat = '/v1/chat/completions';
const hello = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello?' }] };
const completion = JSON.stringify({
  model: 'gpt-4o-2024-08-06',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 100, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 40 } },
});
const answers = (): RawReply => ({ headers: json, pieces: [completion] });
const bodyOf = (request: RawRequest | undefined): unknown => JSON.parse(request?.body.toString() ?? 'null');

describe('the proxy', () => {
  test('replaces the token by the key, and reveals neither to the other side', async () => {
    const { url, server, told } = await testedProxy(answers);
    const headers = { 'openai-organization': 'another', 'x-request-id': '1', cookie: 'a=b' };
    expect((await postTo(url, chat, hello, { headers })).status).toBe(200);
    const [seen] = server.requests;
    expect(seen?.headers.authorization).toBe(`Bearer ${fakeKeys.OPENAI_API_KEY}`);
    expect(seen?.headers).toMatchObject({ 'x-request-id': '1', 'accept-encoding': 'identity' });
    expect(JSON.stringify(seen?.headers)).not.toMatch(/token-of-the-run|openai-organization|cookie/);
    expect(JSON.stringify(told)).not.toContain('token-of-the-run');
  });

  test.each(dialectPlaces)(
    'refuses a wrong token in the format of its dialect: $dialect',
    async ({ path, key, body, model }) => {
      const { url, server } = await testedProxy(answers, { model });
      const reply = await postTo(url, path(false), body(false), { key, token: 'another' });
      expect(reply.status).toBe(401);
      expect(await reply.json()).toMatchObject({
        error: { message: expect.stringContaining("not the gateway's token") },
      });
      expect(server.requests).toEqual([]);
    },
  );

  test("maps any requested model to the run's, and small ones to the fast one", async () => {
    const { url, server, records } = await testedProxy(answers, { fast: 'openai/gpt-4o-mini' });
    const names = [
      'gpt-4o',
      'gpt-9-ultra',
      'claude-haiku-4',
      'openai/gpt-4o-mini',
      'mlab-fast',
      'mlab-agent',
    ];
    for (const model of names) await postTo(url, chat, { ...hello, model });
    expect(server.requests.map((request) => (bodyOf(request) as { model: string }).model)).toEqual([
      ...['gpt-4o', 'gpt-4o', 'gpt-4o-mini', 'gpt-4o-mini', 'gpt-4o-mini', 'gpt-4o'],
    ]);
    expect(records.map(({ settings, request }) => [settings.model, request.role])[2]).toEqual([
      'openai/gpt-4o-mini',
      'fast',
    ]);
  });

  test("makes every request one to the agent's model if no other was chosen for small ones", async () => {
    const { url, records } = await testedProxy(answers);
    for (const model of ['any-mini', 'mlab-fast', 'mlab-editor', 'gpt-4o'])
      await postTo(url, chat, { ...hello, model });
    expect(records.map(({ request }) => request.role)).toEqual(['agent', 'agent', 'agent', 'agent']);
  });

  test('lists the models of the run in each dialect', async () => {
    const { url } = await testedProxy(answers, { fast: 'openai/gpt-4o-mini' });
    const list = async (headers: Record<string, string>) =>
      (await fetch(`${url}/v1/models`, { headers: { 'x-api-key': 'token-of-the-run', ...headers } })).json();
    expect(await list({})).toMatchObject({ object: 'list', data: [{ id: 'gpt-4o' }, { id: 'gpt-4o-mini' }] });
    expect(await list({ 'anthropic-version': '2023-06-01' })).toMatchObject({
      data: [{ type: 'model' }, {}],
    });
  });

  test("passes on the provider's errors unchanged, and charges nothing", async () => {
    const error =
      '{"error" : {"message":"Rate limit reached, try again in 2s","code":"rate_limit_exceeded"}}';
    const { url, records } = await testedProxy(() => ({
      status: 429,
      headers: { ...json, 'retry-after-ms': '1', 'x-request-id': 'r1' },
      pieces: [error],
    }));
    const reply = await postTo(url, chat, hello);
    expect([reply.status, await reply.text(), reply.headers.get('x-request-id')]).toEqual([429, error, 'r1']);
    expect(records).toMatchObject([
      {
        answer: null,
        failure: { failure: 'rate_limited' },
        usage: { input: 0, output: 0 },
        cost: 0,
        wire: { status: 429 },
      },
    ]);
  });

  test('removes the key from everything that a provider sends', async () => {
    const key = fakeKeys.OPENAI_API_KEY;
    const body = JSON.stringify({ error: { message: `Incorrect API key provided: ${key}` } });
    const half = body.indexOf(key) + 5;
    const { url, records } = await testedProxy(() => ({
      status: 401,
      headers: json,
      pieces: [body.slice(0, half), body.slice(half)],
      pauseMs: 20,
    }));
    const text = await (await postTo(url, chat, hello)).text();
    expect(text).toBe(body.replace(key, '[key]'));
    expect(JSON.stringify(records)).not.toContain(key);
  });

  test('removes the key in every form, from headers too', async () => {
    const key = fakeKeys.OPENAI_API_KEY;
    const encoded = Buffer.from(`Bearer ${key}`).toString('base64');
    const { url } = await testedProxy(() => ({
      headers: { ...json, 'x-debug-authorization': `Bearer ${key}`, 'x-debug': encoded },
      pieces: [encoded.slice(0, 20), encoded.slice(20), ` ${encodeURIComponent(key)}`],
      pauseMs: 20,
    }));
    const reply = await postTo(url, chat, hello);
    expect(reply.headers.get('x-debug-authorization')).toBe('Bearer [key]');
    const texts = [...reply.headers.values(), await reply.text()].join(' ');
    expect(texts).not.toContain(key);
    const decoded = texts
      .split(' ')
      .map((text) => Buffer.from(text.replaceAll('[key]', '!!!!'), 'base64').toString());
    expect(decoded.join(' ')).not.toContain(key.slice(3, -3));
  });

  test('refuses permanently what does not fit the quota, and sends nothing', async () => {
    const refused: string[] = [];
    const { url, server, records } = await testedProxy(answers, {
      proxy: {
        quota: new Quota({ of: 'this run', tokens: 40_000 }),
        onRefused: ({ exceeded }) => refused.push(exceeded),
      },
    });
    const most = { ...hello, max_tokens: 1000 };
    expect((await postTo(url, chat, most)).status).toBe(200);
    const reply = await postTo(url, chat, { ...most, max_tokens: 39_890 });
    expect([reply.status, reply.headers.get('x-should-retry')]).toEqual([403, 'false']);
    expect(await reply.json()).toMatchObject({ error: { code: 'insufficient_quota' } });
    expect([server.requests.length, records.length, refused]).toEqual([1, 1, ['tokens']]);
  });

  test('asks before each request in order, and sends nothing after it was closed', async () => {
    const asked: number[] = [];
    const { url, server } = await testedProxy(answers, {
      proxy: {
        async onRequest({ number, dialect, asked: model, request }) {
          await sleep(5 * (4 - number));
          asked.push(number);
          expect([dialect, model, request.messages.length]).toEqual(['chat_completions', 'gpt-4o', 1]);
          return number < 3 ? { kind: 'send' } : { kind: 'closed', message: 'The time is up.' };
        },
      },
    });
    const replies = await Promise.all([1, 2, 3].map(() => postTo(url, chat, hello)));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 200, 403]);
    expect([asked, server.requests.length]).toEqual([[1, 2, 3], 2]);
  });

  test('counts tokens without a charge or a record', async () => {
    const { url, server, records } = await testedProxy(
      () => ({ headers: json, pieces: ['{"input_tokens":7}'] }),
      {
        model: 'anthropic/claude-opus-4-5',
      },
    );
    const body = { model: 'claude-x', messages: [] };
    const reply = await postTo(url, '/v1/messages/count_tokens', body, { key: 'x-api-key' });
    expect(await reply.json()).toEqual({ input_tokens: 7 });
    expect(bodyOf(server.requests[0])).toEqual({ ...body, model: 'claude-opus-4-5' });
    expect(records).toEqual([]);
  });

  test('says at once that websockets are not supported', async () => {
    const { url } = await testedProxy(answers);
    const { request } = await import('node:http');
    const status = await new Promise((resolve) => {
      const headers = {
        authorization: 'Bearer token-of-the-run',
        connection: 'upgrade',
        upgrade: 'websocket',
      };
      request(`${url}/v1/responses`, { headers }, (response) => resolve(response.resume().statusCode)).end();
    });
    expect(status).toBe(426);
  });

  test('names the supported dialects if a model is requested in another', async () => {
    const { url } = await testedProxy(answers);
    const reply = await postTo(url, '/v1/messages', { model: 'x', messages: [] }, { key: 'x-api-key' });
    expect([reply.status, await reply.json()]).toEqual([
      404,
      {
        type: 'error',
        error: {
          type: 'not_found_error',
          message: expect.stringContaining('responses and chat_completions'),
        },
      },
    ]);
  });

  test('reports an unreachable provider in the format of its dialect', async () => {
    const { url, server, records } = await testedProxy(answers);
    await server[Symbol.asyncDispose]();
    const reply = await postTo(url, chat, hello);
    expect([reply.status, await reply.json()]).toEqual([
      502,
      { error: expect.objectContaining({ type: 'server_error' }) },
    ]);
    expect(records).toMatchObject([{ failure: { failure: 'connection' }, usage: { input: 0, output: 0 } }]);
  });

  test.each([
    ['none', undefined],
    ['nothing', { prompt_tokens: 0, completion_tokens: 0 }],
    ['only the total', { total_tokens: 7 }],
    ['negative numbers', { prompt_tokens: -5, completion_tokens: -5 }],
    ['no reply', { prompt_tokens: 9 }],
    ['no request', { completion_tokens: 9 }],
  ])('estimates the tokens of a server that counts %s', async (_, usage) => {
    const reply = { choices: [{ message: { content: 'x'.repeat(300) }, finish_reason: 'stop' }], usage };
    const { url, records } = await testedProxy(() => ({ headers: json, pieces: [JSON.stringify(reply)] }));
    await (await postTo(url, chat, hello)).text();
    expect(records[0]?.usage.source).toBe('estimate');
    expect(records[0]?.usage.input).toBeGreaterThanOrEqual(9);
    expect(records[0]?.usage.output).toBe(100);
  });

  test('breaks off a stream if the provider does', async () => {
    const { url, records } = await testedProxy(() => ({
      headers: events,
      pieces: ['data: {"choices":[]}\n\n'],
      ending: 'cut',
      pauseMs: 30,
    }));
    const reply = await postTo(url, chat, { ...hello, stream: true });
    await expect(reply.text()).rejects.toThrow();
    expect(records).toMatchObject([{ failure: { failure: 'connection' } }]);
  });

  test('says of a reply that is too large for it that it is too large', async () => {
    const filler = 'x'.repeat(2 ** 20);
    const pieces = ['{"filler":"', ...Array.from({ length: 33 }, () => filler), '"}'];
    const { url, records } = await testedProxy(() => ({ headers: json, pieces }));
    expect((await (await postTo(url, chat, hello)).text()).length).toBeGreaterThan(2 ** 25);
    const message = expect.stringContaining('more than 32 MiB');
    expect(records).toMatchObject([{ failure: { failure: 'malformed', message } }]);
  });

  test('gives up on a provider that is silent for too long', async () => {
    const settings = ProviderSettings.parse({ stall_seconds: 0.05 });
    const { url, records } = await testedProxy(() => ({ headers: json, pieces: [], ending: 'silence' }), {
      settings,
    });
    await (await postTo(url, chat, hello)).text().catch(() => {});
    expect(records).toMatchObject([{ failure: { failure: 'timed_out' } }]);
  });

  test('aborts calls in progress when it is closed, and records them', async () => {
    const { url, proxy, server, records } = await testedProxy(() => ({
      headers: events,
      pieces: [': hi\n\n'],
      ending: 'silence',
    }));
    const reply = postTo(url, chat, { ...hello, stream: true });
    await expect.poll(() => server.requests.length).toBe(1);
    await reply;
    await proxy[Symbol.asyncDispose]();
    expect(records).toMatchObject([{ failure: { failure: 'cut_off' } }]);
  });
});
