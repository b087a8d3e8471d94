import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { postTo, testedProxy } from '../../../test/fixtures/proxy-place.ts';

const json = { 'content-type': 'application/json' };
const chat = '/v1/chat/completions';
const hello = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello?' }] };
const claude = 'anthropic/claude-opus-4-5';

describe('the usage of a call', () => {
  test("isn't hidden by headers or parameters of a program", async () => {
    const { url, server } = await testedProxy(() => ({ headers: json, pieces: ['{}'] }), {
      model: 'google/gemini-2.5-pro',
    });
    const headers = {
      ...{ 'x-goog-fieldmask': 'candidates', 'x-http-method-override': 'GET', 'x-forwarded-for': '10.0.0.1' },
      ...{ 'x-litellm-tags': 'a', 'x-goog-api-client': 'gl-node/24', 'x-stainless-lang': 'js' },
    };
    const path =
      '/v1beta/models/x:generateContent?%24httpHeaders=X-Goog-FieldMask%3Acandidates&$httpMethod=GET';
    await postTo(url, path, { contents: [] }, { key: 'x-goog-api-key', headers });
    expect(server.requests[0]?.url).toBe('/v1/models/gemini-2.5-pro:generateContent');
    expect(server.requests[0]?.headers).toMatchObject({
      ...{ 'x-goog-api-client': 'gl-node/24', 'x-stainless-lang': 'js', 'content-type': 'application/json' },
    });
    expect(Object.keys(server.requests[0]?.headers ?? {}).join(' ')).not.toMatch(
      /fieldmask|override|forwarded|litellm/,
    );
  });

  test.each([1, 'true', []])("isn't hidden by a stream that is asked for by %j", async (stream) => {
    const { url, server } = await testedProxy(() => ({ headers: json, pieces: ['{}'] }));
    const reply = await postTo(url, chat, { ...hello, stream });
    expect([reply.status, server.requests.length]).toEqual([400, 0]);
    expect(await reply.json()).toMatchObject({ error: { message: 'stream is true or false.' } });
  });

  test.each([false, true])(
    'includes what Anthropic counts by iterations; in a stream: %s',
    async (isStreaming) => {
      const usage = {
        ...{ input_tokens: 23_000, output_tokens: 1000, cache_read_input_tokens: 0 },
        iterations: [
          { type: 'compaction', input_tokens: 180_000, output_tokens: 3500, cache_read_input_tokens: 500 },
          { type: 'message', input_tokens: 23_000, output_tokens: 1000 },
        ],
      };
      const message = {
        type: 'message',
        content: [{ type: 'text', text: 'Hi.' }],
        stop_reason: 'end_turn',
        usage,
      };
      const events = [
        {
          type: 'message_start',
          message: { content: [], usage: { input_tokens: 23_000, output_tokens: 1 } },
        },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
        { type: 'message_stop' },
      ];
      const stream = events.map((data) => `data: ${JSON.stringify(data)}\n\n`).join('');
      const { url, records } = await testedProxy(
        () =>
          isStreaming
            ? { headers: { 'content-type': 'text/event-stream' }, pieces: [stream] }
            : { headers: json, pieces: [JSON.stringify(message)] },
        { model: claude },
      );
      const body = { model: 'x', max_tokens: 9000, messages: [], stream: isStreaming };
      await (await postTo(url, '/v1/messages', body, { key: 'x-api-key' })).text();
      expect(records[0]?.usage).toMatchObject({
        input: 203_500,
        cached_input: 500,
        output: 4500,
        source: 'provider',
      });
    },
  );

  test('is hidden from a program that does not ask for it, also after an event of several MiB', async () => {
    const content = 'x'.repeat(3 * 2 ** 20);
    const answer = { choices: [{ index: 0, delta: { content }, finish_reason: 'stop' }] };
    const count = { choices: [], usage: { prompt_tokens: 100, completion_tokens: 10 } };
    const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
    const end = 'data: [DONE]\n\n';
    const { url, records } = await testedProxy(() => ({
      headers: { 'content-type': 'text/event-stream' },
      pieces: [event(answer), event(count), end],
    }));
    const reply = await postTo(url, chat, { ...hello, stream: true });
    expect((await reply.text()) === event(answer) + end).toBe(true);
    expect(records).toMatchObject([
      { failure: null, usage: { input: 100, output: 10, source: 'provider' }, wire: { status: 200 } },
    ]);
    expect(records[0]?.answer).toHaveProperty('text', content);
  });

  test.each([
    ['compressed', gzipSync('{"choices":[{"message":{"content":"Hi."}}],"usage":{}}')],
    ['of another format', 'Hi.'],
    ['in another JSON', '{"text":"Hi."}'],
  ])("is the largest possible if a good reply can't be read: %s", async (_, piece) => {
    const { url, records } = await testedProxy(() => ({ headers: json, pieces: [piece] }));
    await (await postTo(url, chat, { ...hello, max_tokens: 77 })).arrayBuffer();
    expect(records).toMatchObject([
      { failure: { failure: 'malformed' }, usage: { output: 77, source: 'estimate' } },
    ]);
  });
});
