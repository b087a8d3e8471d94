import { describe, expect, test } from 'vitest';
import type { RawReply } from '../../../test/fakes/providers/index.ts';
import { exampleReplies } from '../../../test/fixtures/provider-replies.ts';
import { dialectPlaces, postTo, testedProxy } from '../../../test/fixtures/proxy-place.ts';
import type { CallRecord } from './caller.ts';

const thought = 'x = 1; '.repeat(300);
const json = { 'content-type': 'application/json' };
const events = { 'content-type': 'text/event-stream' };
const hello = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello?' }] };
const completion = JSON.stringify({
  model: 'gpt-4o-2024-08-06',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 100, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 40 } },
});
const eventOf = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
const chunk = (content: string): string => eventOf({ choices: [{ index: 0, delta: { content } }] });

/** A stream of each dialect that contains nothing but reasoning or a call that is not complete. */
const streams: Record<string, object[]> = {
  chat_completions: [{ id: 'c', choices: [{ index: 0, delta: { reasoning_content: thought } }] }],
  responses: [
    { type: 'response.created', response: { id: 'r', instructions: 'y'.repeat(30_000), output: [] } },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { type: 'function_call', id: 'f', call_id: 'c1', name: 'shell', arguments: '' },
    },
    { type: 'response.function_call_arguments.delta', output_index: 0, item_id: 'f', delta: thought },
  ],
  messages: [
    {
      type: 'message_start',
      message: { model: 'm', content: [], usage: { input_tokens: 9, output_tokens: 1 } },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: thought } },
  ],
  generate_content: [{ candidates: [{ content: { parts: [{ thought: true, text: thought }] } }] }],
};

/** What is recorded of a reply that the program leaves once it has begun. */
async function leftReply(
  {
    model,
    basePath,
    path,
    key,
    body,
  }: Pick<(typeof dialectPlaces)[number], 'model' | 'basePath' | 'path' | 'key' | 'body'>,
  reply: RawReply,
): Promise<CallRecord | undefined> {
  const place = await testedProxy(() => ({ ...reply, ending: 'silence' }), {
    ...{ model, basePath },
    proxy: { readOnMs: 20 },
  });
  const stop = new AbortController();
  const left = await postTo(place.url, path(true), body(true), { key, signal: stop.signal });
  await left.body?.getReader().read();
  stop.abort();
  await expect.poll(() => place.records.length).toBe(1);
  return place.records[0];
}

describe('a reply that the program leaves before its end', () => {
  test.each(dialectPlaces)(
    'is charged for reasoning and for calls that are not complete, and is an answer: $dialect',
    async (place) => {
      const pieces = [
        (streams[place.dialect] ?? []).map((data) => `data: ${JSON.stringify(data)}\n\n`).join(''),
      ];
      const record = await leftReply(place, { headers: events, pieces });
      expect(record).toMatchObject({ answer: { kind: 'answered', text: '' }, failure: null });
      expect(record?.usage.source).toBe('estimate');
      expect(record?.usage.output).toBeGreaterThanOrEqual(thought.length / 3);
      expect(record?.usage.output).toBeLessThan(thought.length / 3 + 30);
    },
  );

  const [chat, responses, , google] = dialectPlaces;
  if (chat === undefined || responses === undefined || google === undefined) throw new Error('no dialects');

  test("is charged for what can't be read", async () => {
    const record = await leftReply(chat, { headers: events, pieces: [`data: ${thought}\n\n`] });
    expect(record?.usage.output).toBe(thought.length / 3);
  });

  test('contains the call that was being written', async () => {
    const pieces = (streams.responses ?? []).map((data) => `data: ${JSON.stringify(data)}\n\n`);
    const record = await leftReply(responses, { headers: events, pieces: [pieces.join('')] });
    expect(record?.answer).toMatchObject({ tool_calls: [{ id: 'c1', name: 'shell', input: thought }] });
  });

  test.each([
    [
      'its reasoning is hidden',
      responses,
      events,
      [
        '{"type":"response.output_item.added","item":{"type":"reasoning","summary":[]}}',
        '{"type":"response.output_text.delta","delta":"So:"}',
      ]
        .map((data) => `data: ${data}\n\n`)
        .join(''),
    ],
    [
      'it is no stream of events',
      google,
      { 'content-type': 'application/json' },
      '[{"candidates":[{"content":',
    ],
  ])('is charged as the longest possible one if %s', async (_, place, headers, piece) => {
    const record = await leftReply(place, { headers, pieces: [piece] });
    expect(record).toMatchObject({ answer: { kind: 'answered' }, usage: { output: 32_000 } });
  });
});

describe('a program that closes the connection', () => {
  test('counts what had arrived of a stream that the program aborts as its answer, and aborts it at the provider', async () => {
    const { url, server, records } = await testedProxy(() => ({
      headers: events,
      pieces: [chunk('x'.repeat(300))],
      ending: 'silence',
    }));
    const stop = new AbortController();
    const reply = await postTo(
      url,
      '/v1/chat/completions',
      { ...hello, stream: true },
      { signal: stop.signal },
    );
    await reply.body?.getReader().read();
    stop.abort();
    await expect.poll(() => records.length).toBe(1);
    expect(records).toMatchObject([
      {
        answer: { kind: 'answered', text: 'x'.repeat(300), finish: 'other' },
        failure: null,
        usage: { output: 100, source: 'estimate' },
        wire: { status: 200 },
      },
    ]);
    await expect.poll(() => server.givenUp).toBe(1);
  });

  test('charges an aborted reply in one piece as the longest possible one', async () => {
    const { url, server, records } = await testedProxy(
      () => ({ headers: json, pieces: ['{'], ending: 'silence' }),
      { proxy: { readOnMs: 20 } },
    );
    const stop = new AbortController();
    const reply = postTo(
      url,
      '/v1/chat/completions',
      { ...hello, max_tokens: 77 },
      { signal: stop.signal },
    ).then((found) => found.text());
    await expect.poll(() => server.requests.length).toBe(1);
    stop.abort();
    await expect(reply).rejects.toThrow();
    await expect.poll(() => records[0]?.usage.output).toBe(77);
  });

  test('reads a reply in one piece to its end, though the program has closed the connection', async () => {
    const halves = [completion.slice(0, 50), completion.slice(50)];
    const { url, server, records } = await testedProxy(() => ({
      headers: json,
      pieces: halves,
      pauseMs: 60,
    }));
    const stop = new AbortController();
    const reply = postTo(url, '/v1/chat/completions', hello, { signal: stop.signal });
    await expect.poll(() => server.requests.length).toBe(1);
    stop.abort();
    await expect(reply.then((found) => found.text())).rejects.toThrow();
    await expect
      .poll(() => records)
      .toMatchObject([
        { answer: { text: 'Hi.' }, failure: null, usage: { input: 100, output: 10, source: 'provider' } },
      ]);
  });

  test('waits for the count of a stream whose end the program does not await', async () => {
    const end = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
    const usage = { choices: [], usage: { prompt_tokens: 200, completion_tokens: 50 } };
    const { url, records } = await testedProxy(() => ({
      headers: events,
      pieces: [chunk('Hi.') + eventOf(end), eventOf(usage)],
      pauseMs: 60,
    }));
    const stop = new AbortController();
    const reply = await postTo(
      url,
      '/v1/chat/completions',
      { ...hello, stream: true },
      { signal: stop.signal },
    );
    await reply.body?.getReader().read();
    stop.abort();
    await expect
      .poll(() => records)
      .toMatchObject([
        { answer: { text: 'Hi.' }, failure: null, usage: { input: 200, output: 50, source: 'provider' } },
      ]);
  });
});

describe('a stream that the provider ends', () => {
  /** What the program reads of it (null: the connection broke), and what is recorded. */
  async function endedStream(
    { model, basePath, path, key, body }: (typeof dialectPlaces)[number],
    pieces: string[],
  ): Promise<{ read: string | null; record: CallRecord | undefined }> {
    const { url, records } = await testedProxy(() => ({ headers: events, pieces }), { model, basePath });
    const reply = await postTo(url, path(true), body(true), { key });
    const read = await reply.text().catch(() => null);
    await expect.poll(() => records.length).toBe(1);
    return { read, record: records[0] };
  }
  const isLast =
    /finish_?reason":"[a-z]|stop_reason":"[a-z]|message_stop|response\.(completed|incomplete)|\[DONE\]/i;
  const streamsOf = (place: (typeof dialectPlaces)[number]) =>
    exampleReplies(place.dialect)
      .filter(({ isStreaming }) => isStreaming)
      .map(({ text }) => text.split(/(?<=\n\n)/));

  test.each(dialectPlaces)(
    'in the middle of its answer breaks off for the program, too, and is charged: $dialect',
    async (place) => {
      for (const blocks of streamsOf(place)) {
        const begun = blocks.slice(
          0,
          blocks.findIndex((block) => isLast.test(block)),
        );
        for (const pieces of [begun, [...begun, blocks[begun.length]?.slice(0, 25) ?? '']]) {
          if (begun.length === 0) continue;
          const { read, record } = await endedStream(place, pieces);
          expect(read).toBeNull();
          expect(record).toMatchObject({ answer: null, failure: { failure: 'connection' } });
          expect(record?.failure?.message).toMatch(/: the reply ended in the middle$/);
          expect(record?.usage).toMatchObject({ source: 'estimate', input: expect.any(Number) });
          expect(record?.usage.input).toBeGreaterThan(0);
        }
      }
    },
  );

  test.each(dialectPlaces)('after the reason for its end is complete: $dialect', async (place) => {
    for (const blocks of streamsOf(place)) {
      const end = blocks.findIndex((block) => isLast.test(block));
      const pieces = [...blocks.slice(0, end), blocks[end]?.trimEnd() ?? ''];
      const { read, record } = await endedStream(place, pieces);
      expect(read).toBe(pieces.join(''));
      expect(record).toMatchObject({ answer: { kind: 'answered' }, failure: null });
    }
  });

  test('with [DONE] is complete, whether or not it gave a reason', async () => {
    const [chat] = dialectPlaces;
    if (chat === undefined) throw new Error('no dialects');
    const pieces = [chunk('Hi.'), 'data: [DONE]\n\n'];
    const { read, record } = await endedStream(chat, pieces);
    expect(read).toBe(pieces.join(''));
    expect(record).toMatchObject({ answer: { text: 'Hi.' }, failure: null });
  });

  test('after an event that can not be read here is taken for complete', async () => {
    const [, responses] = dialectPlaces;
    if (responses === undefined) throw new Error('no dialects');
    const deep = `{"type":"response.completed","tools":${'['.repeat(300)}${']'.repeat(300)}}`;
    const text = eventOf({ type: 'response.output_text.delta', output_index: 0, delta: 'Hi.' });
    const { record } = await endedStream(responses, [text, `data: ${deep}\n\n`]);
    expect(record).toMatchObject({ answer: { text: 'Hi.' }, failure: null });
  });
});
