import { describe, expect, test } from 'vitest';
import type { RawReply, RawRequest } from '../../../test/fakes/providers/index.ts';
import { dialectPlaces, postTo, testedProxy } from '../../../test/fixtures/proxy-place.ts';

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
const user = (part: object): object => ({ role: 'user', content: [part] });
const stored = { type: 'input_image', file_id: 'file-1' };
const bodyOf = (request: RawRequest | undefined): unknown => JSON.parse(request?.body.toString() ?? 'null');

describe('long silences', () => {
  const proxy = { silenceMs: 20 };

  test.each(dialectPlaces)(
    'cause keep-alive events between other events: $dialect',
    async ({ dialect, model, basePath, path, key, body }) => {
      const pieces = ['data: {"a":', '1}\n\n', 'data: {}\n\n'];
      const reply = () => ({ headers: events, pieces, pauseMs: 90 });
      const { url } = await testedProxy(reply, { model, basePath, proxy });
      const text = await (await postTo(url, path(true), body(true), { key })).text();
      const signs: Partial<Record<string, string>> = {
        messages: 'event: ping',
        generate_content: 'data: {}',
      };
      expect(text).toContain('data: {"a":1}\n\n');
      expect(text.length).toBeGreaterThan('data: {"a":1}\n\ndata: {}\n\n'.length);
      expect(text).toContain(signs[dialect] ?? ': waiting');
    },
  );

  test('before the first byte start the stream, in which an error is then an event', async () => {
    const error = '{"error":\n {"message":"overloaded"}}';
    const { url, records } = await testedProxy(
      () => ({ status: 503, headers: json, pieces: [error], delayMs: 90 }),
      { proxy },
    );
    const reply = await postTo(url, chat, { ...hello, stream: true });
    const text = await reply.text();
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    expect(text).toMatch(/^(: waiting\n\n)+event: error\ndata: {"error": {"message":"overloaded"}}\n\n$/);
    expect(records).toMatchObject([{ failure: { failure: 'overloaded' }, wire: { response: error } }]);
  });
});

test('an answer in one piece after a long silence is passed on as an event', async () => {
  const { url, records } = await testedProxy(() => ({ headers: json, pieces: [completion], delayMs: 90 }), {
    proxy: { silenceMs: 20 },
  });
  const text = await (await postTo(url, chat, { ...hello, stream: true })).text();
  expect(text).toMatch(/^(: waiting\n\n)+data: /);
  expect(JSON.parse(text.slice(text.indexOf('data: ') + 6))).toEqual(JSON.parse(completion));
  expect(records).toMatchObject([{ answer: { text: 'Hi.' } }]);
});

describe('long silences of models of Google', () => {
  const place = { model: 'google/gemini-2.5-pro', basePath: '/v1beta', proxy: { silenceMs: 20 } };
  const path = '/v1beta/models/gemini-2.5-pro:streamGenerateContent';
  const body = { contents: [{ role: 'user', parts: [{ text: 'Hello?' }] }] };

  test('leave a stream that is one list as it is', async () => {
    const list = '[{"candidates":[{"content":{"parts":[{"text":"Hi."}]},"finishReason":"STOP"}]}]';
    const { url, records } = await testedProxy(() => ({ headers: json, pieces: [list], delayMs: 90 }), place);
    const reply = await postTo(url, path, body);
    expect([reply.headers.get('content-type'), await reply.text()]).toEqual(['application/json', list]);
    expect(records).toMatchObject([{ answer: { text: 'Hi.' } }]);
  });

  test('before an error are followed by it in the form that clients read', async () => {
    const error = '{"error":\n {"code":429,"message":"too many","status":"RESOURCE_EXHAUSTED"}}';
    const { url } = await testedProxy(
      () => ({ status: 429, headers: json, pieces: [error], delayMs: 90 }),
      place,
    );
    const text = await (await postTo(url, `${path}?alt=sse`, body)).text();
    const [last] = text.split('data: {}\n\n').slice(-1);
    expect(JSON.parse(last ?? '')).toEqual(JSON.parse(error));
  });
});

describe('tools that the provider itself runs', () => {
  const own = { type: 'function', function: { name: 'bash', parameters: {} } };

  test('are removed, and everything else stays as it was', async () => {
    const { url, server } = await testedProxy(answers);
    const body = `{"model":"gpt-4o", "web_search_options": {}, "tools":[ ${JSON.stringify(own)}, {"type":"web_search"}],"messages":[],"plugins":[]}`;
    await postTo(url, chat, body);
    expect(server.requests[0]?.body.toString()).toBe(
      `{"model":"gpt-4o", "tools":[${JSON.stringify(own)}],"messages":[]}`,
    );
  });

  test('are removed, and so is what other servers search with, where the usage of a stream is asked for', async () => {
    const { url, server } = await testedProxy(answers);
    for (const name of ['web_search_options', 'enable_search', 'search_parameters'])
      await postTo(url, chat, `{"${name}":{},"model":"gpt-4o","messages":[],"stream":true}`);
    for (const request of server.requests)
      expect(bodyOf(request)).toEqual({
        ...{ model: 'gpt-4o', messages: [], stream: true },
        stream_options: { include_usage: true },
      });
    expect(server.requests).toHaveLength(3);
  });

  test.each([
    [
      'openai/gpt-5',
      '/v1/responses',
      { type: 'function', name: 'shell' },
      { type: 'mcp', server_url: 'http://x' },
    ],
    [
      'openai/gpt-5',
      '/v1/responses',
      { type: 'custom', name: 'apply_patch' },
      { type: 'shell', environment: { type: 'container_auto' } },
    ],
    [
      'anthropic/claude-opus-4-5',
      '/v1/messages',
      { name: 'Bash', input_schema: {} },
      { type: 'web_fetch_20260101', name: 'f' },
    ],
    [
      'google/gemini-2.5-pro',
      '/v1beta/models/x:generateContent',
      { functionDeclarations: [] },
      { google_search: {} },
    ],
  ])('are withheld in each dialect: %s %s', async (model, path, kept, withheld) => {
    const { url, server } = await testedProxy(answers, { model });
    await postTo(url, path, { tools: [kept, withheld] });
    expect(bodyOf(server.requests[0])).toMatchObject({ tools: [kept] });
    const reply = await postTo(url, path, { tools: [withheld] });
    expect([reply.status, server.requests.length]).toEqual([400, 1]);
  });

  test('are removed if Google gets a single tool instead of a list, and tools of the program are read', async () => {
    const { url, server, told } = await testedProxy(answers, { model: 'google/gemini-2.5-pro' });
    const path = '/v1beta/models/x:generateContent';
    const own = { functionDeclarations: [{ name: 'shell' }] };
    const reply = await postTo(url, path, { tools: { google_search: {} } });
    expect([reply.status, server.requests.length]).toEqual([400, 0]);
    await postTo(url, path, { tools: { ...own, googleSearch: {} } });
    await postTo(url, path, { tools: own });
    const kept = server.requests.map((request) => bodyOf(request));
    expect(kept).toMatchObject([{ tools: [own] }, { tools: own }]);
    expect(told.at(-1)?.request.tools?.map(({ name }) => name)).toEqual(['shell']);
  });

  test('are removed from items of a conversation, and tools of the program are read', async () => {
    const { url, server, told } = await testedProxy(answers, { model: 'openai/gpt-5' });
    const exec = { type: 'custom', name: 'exec' };
    const bring = (...tools: object[]) => ({ type: 'additional_tools', role: 'developer', tools });
    const search = { type: 'web_search' };
    const space = (...tools: object[]) => ({ type: 'namespace', name: 'functions', tools });
    const input = [bring(space(exec), search), bring(space(search)), { role: 'user', content: 'Hello?' }];
    await postTo(url, '/v1/responses', { input });
    expect(bodyOf(server.requests[0])).toMatchObject({ input: [bring(space(exec)), bring(), input[2]] });
    expect(told[0]?.request.tools?.map(({ name }) => name)).toContain('exec');
    expect(told[0]?.request.messages).toEqual([{ role: 'user', text: 'Hello?' }]);
  });

  test('are kept if the run allows them', async () => {
    const { url, server } = await testedProxy(answers, { proxy: { serverTools: true } });
    const body = { ...hello, web_search_options: {}, tools: [{ type: 'web_search' }] };
    await postTo(url, chat, body);
    expect(bodyOf(server.requests[0])).toEqual(body);
  });

  test('are removed together with options that cost more than the price of the model', async () => {
    const { url, server } = await testedProxy(answers);
    await postTo(url, chat, { ...hello, service_tier: 'priority' });
    await postTo(url, chat, { service_tier: 'flex', ...hello });
    expect(server.requests.map(bodyOf)).toEqual([hello, { service_tier: 'flex', ...hello }]);
  });

  test.each([
    ['{}', { model: 'gpt-4o' }],
    [' { "messages": [] }', { model: 'gpt-4o', messages: [] }],
    ['{"stream":true}', { model: 'gpt-4o', stream: true, stream_options: { include_usage: true } }],
  ])('and a provider does not choose a model itself if %s names none', async (body, sent) => {
    const { url, server } = await testedProxy(answers);
    await postTo(url, chat, body);
    expect(bodyOf(server.requests[0])).toEqual(sent);
  });

  test.each([
    ['/v1/responses', { previous_response_id: 'resp_1' }],
    ['/v1/responses', { background: true }],
    ['/v1/chat/completions', { models: ['gpt-9'] }],
    ['/v1/responses', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    ['/v1/responses', { input: [{ id: 'msg_1' }] }],
    ['/v1/responses', { input: [user({ type: 'input_file', file_id: 'file-1' })] }],
    ['/v1/responses', { input: [{ type: 'function_call_output', call_id: 'c', output: [stored] }] }],
    ['/v1/responses', { conversation: 'conv_1' }],
    ['/v1/responses', { prompt: { id: 'pmpt_1' } }],
    ['/v1/chat/completions', { messages: [user({ type: 'file', file: { file_id: 'file-1' } })] }],
    ['/v1/messages', { messages: [user({ type: 'document', source: { type: 'file', file_id: 'f' } })] }],
    ['/v1/messages', { messages: [user({ type: 'tool_result', tool_use_id: 'c', content: [stored] })] }],
    ['/v1/chat/completions', { api_base: 'http://evil.example' }],
    ['/v1/responses', { base_url: 'http://evil.example' }],
    ['/v1/messages', { api_key: 'another' }],
    ['/v1/chat/completions', { fallbacks: ['gpt-9'] }],
  ])('and what can be neither metered nor recorded is refused: %s %j', async (path, more) => {
    const model = path === '/v1/messages' ? 'anthropic/claude-opus-4-5' : 'openai/gpt-4o';
    const { url, server } = await testedProxy(answers, { model });
    const reply = await postTo(url, path, { model: 'gpt-4o', messages: [], input: 'x', ...more });
    expect([reply.status, server.requests.length]).toEqual([400, 0]);
    expect(await reply.json()).toMatchObject({
      error: { message: expect.stringContaining("can't be used here") },
    });
  });

  test.each([
    [
      '/v1/responses',
      {
        input: [
          { role: 'user', content: 'x' },
          { type: 'function_call', name: 'read', arguments: '{"file_id":1}' },
        ],
      },
    ],
    [
      '/v1/messages',
      {
        messages: [
          {
            role: 'assistant',
            content: [{ type: 'tool_use', id: 'c', name: 'read', input: { file_id: 1 } }],
          },
        ],
      },
    ],
  ])('and a tool of the program may take ids of files: %s', async (path, body) => {
    const model = path === '/v1/messages' ? 'anthropic/claude-opus-4-5' : 'openai/gpt-4o';
    const { url } = await testedProxy(answers, { model });
    expect((await postTo(url, path, body)).status).toBe(200);
  });
});
