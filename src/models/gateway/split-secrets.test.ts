import { describe, expect, test } from 'vitest';
import { fakeKeys } from '../../../test/fakes/providers/index.ts';
import { postTo, testedProxy } from '../../../test/fixtures/proxy-place.ts';
import { createRedactor } from '../providers/index.ts';
import { withoutKeys } from './split-secrets.ts';

const key = fakeKeys.OPENAI_API_KEY ?? '';
const path = '/v1/chat/completions';
const chat = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello?' }] };
const chunk = (delta: object, end: object = {}) =>
  `data: ${JSON.stringify({ model: 'm', choices: [{ index: 0, delta, ...end }] })}\n\n`;
const letters = (text: string) => text.match(/.{1,3}/g) ?? [];

describe('a key that a provider repeats in pieces', () => {
  test.each([
    ['plain', key],
    ['in base64', Buffer.from(key).toString('base64')],
  ])('is in no record of the call: %s', async (_, form) => {
    const call = (index: number, given: object) => ({ tool_calls: [{ index, function: given }] });
    const pieces = [
      chunk({ content: 'It is ' }),
      ...letters(form).map((content) => chunk({ content })),
      chunk(call(0, { name: 'bash', arguments: '{"command":"' })),
      chunk(call(1, { name: 'bash', arguments: '{"command":"' })),
      // Two calls whose pieces alternate.
      ...letters(form).flatMap((text) => [
        chunk(call(0, { arguments: text })),
        chunk(call(1, { arguments: text })),
      ]),
      chunk(call(0, { arguments: '"}' })),
      chunk(call(1, { arguments: '"}' }), { finish_reason: 'tool_calls' }),
      'data: [DONE]\n\n',
    ];
    const { url, records } = await testedProxy(() => ({
      headers: { 'content-type': 'text/event-stream' },
      pieces,
    }));
    await (await postTo(url, path, { ...chat, stream: true })).text();
    await expect.poll(() => records.length).toBe(1);
    const [record] = records;
    expect(record?.answer).toMatchObject({ text: expect.stringMatching(/^It is \[key\]/) });
    expect(record?.answer).toMatchObject({
      tool_calls: [0, 1].map(() => ({ input: { command: expect.stringMatching(/^\[key\]/) } })),
    });
    const stored = record?.wire?.response ?? '';
    const events = [...stored.matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => JSON.parse(data));
    expect(events).toHaveLength(pieces.length - 1);
    const content = events.map(({ choices }) => choices[0].delta.content ?? '').join('');
    expect(content).toMatch(/^It is \[key\]/);
    expect(content).not.toContain(form.slice(0, 12));
    expect(stored.match(/\[key\]/g)).toHaveLength(3);
  });

  test('is in no recorded request of the program that read it', async () => {
    const { url, records, told } = await testedProxy(() => ({
      headers: { 'content-type': 'application/json' },
      pieces: [JSON.stringify({ choices: [{ message: { content: 'Hi.' }, finish_reason: 'stop' }] })],
    }));
    const content = letters(key).map((text) => ({ type: 'text', text }));
    const body = {
      ...chat,
      messages: [
        { role: 'user', content: `Use ${key}.` },
        { role: 'assistant', content },
      ],
    };
    await (await postTo(url, path, body)).text();
    await expect.poll(() => records.length).toBe(1);
    const { request, wire } = records[0] ?? {};
    expect(request?.messages).toMatchObject([{ text: 'Use [key].' }, {}]);
    expect(JSON.stringify([request, told])).not.toContain(key);
    expect(wire?.request).toContain('Use [key].');
    const [, said] = JSON.parse(wire?.request ?? '').messages;
    expect(said.content.map(({ text }: { text: string }) => text).join('')).toBe('[key]');
  });
});

test('the names and indexes in a request may be long, and many: its pieces are still found', () => {
  const redactor = createRedactor({ api_key_variable: 'OPENAI_API_KEY' }, fakeKeys);
  const long = 'x'.repeat(100_000);
  const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`name ${at}`, 'a value']));
  const [begin, ...rest] = letters(key);
  const body = {
    index: long,
    [long]: { ...many, said: [{ begin }, ...rest.map((text) => ({ begin: text }))] },
  };
  const found = JSON.parse(withoutKeys(JSON.stringify(body), redactor));
  expect(found).toMatchObject({ index: long, [long]: many });
  expect(found[long].said.map(({ begin: text }: { begin: string }) => text).join('')).toBe('[key]');
});
