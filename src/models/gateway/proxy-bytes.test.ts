import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { startRawServer } from '../../../test/fakes/providers/index.ts';
import { completeReply, type FakeReply } from '../../../test/fakes/providers/reply.ts';
import { formatOf } from '../../../test/fixtures/provider-replies.ts';
import { dialectPlaces, postTo, proxyPlace } from '../../../test/fixtures/proxy-place.ts';
import { costOf, PriceTable } from '../prices.ts';

const count = fc.nat({ max: 5000 });
/** Other counts can't be all, and are estimated. */
const some = fc.integer({ min: 1, max: 5000 });
const usage = fc
  .record({ plain: some, cachedInput: count, cacheWrite: count, spoken: some, reasoning: count })
  .map(({ plain, spoken, ...more }) => ({
    ...more,
    input: plain + more.cachedInput + more.cacheWrite,
    output: spoken + more.reasoning,
  }));
const reply: fc.Arbitrary<FakeReply> = fc.record({
  text: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }),
  reasoning: fc.string({ maxLength: 30 }),
  toolCalls: fc.array(
    fc.record({
      name: fc.constantFrom('bash', 'edit'),
      input: fc
        .dictionary(fc.string({ maxLength: 8 }), fc.string({ unit: 'grapheme' }))
        .map((input) => JSON.stringify(input)),
    }),
    { maxLength: 3 },
  ),
  usage,
});

/** The bytes cut into pieces at these places. */
function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const inOrder = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...inOrder].map((from, index) => bytes.subarray(from, inOrder[index] ?? bytes.length));
}

describe.each(dialectPlaces)(
  'the bytes that the proxy forwards in the dialect $dialect',
  ({ dialect, model, basePath, path, key, body }) => {
    const format = formatOf[dialect];
    const price = new PriceTable().priceOf(model);

    test('are the same however they are split, and are read and charged as the provider counts them', async () => {
      let next = { isStreaming: true, pieces: [] as Buffer[] };
      await using server = await startRawServer(() => ({
        headers: {
          'content-type': next.isStreaming ? 'text/event-stream' : 'application/json',
          'x-own': 'yes',
        },
        pieces: next.pieces,
      }));
      await using place = await proxyPlace({ model, baseUrl: server.url + basePath });
      await fc.assert(
        fc.asyncProperty(
          ...([reply, fc.boolean(), fc.array(fc.nat(), { maxLength: 12 })] as const),
          async (described, isStreaming, places) => {
            const complete = completeReply(described, 'answering-model');
            const whole = isStreaming
              ? format.events(complete).join('')
              : JSON.stringify(format.json(complete));
            next = { isStreaming, pieces: cutAt(Buffer.from(whole), places) };
            const sent = JSON.stringify({ ...body(isStreaming), own: described.text });
            const got = await postTo(place.url, path(isStreaming), sent, {
              key,
              headers: { 'x-stainless-lang': 'kept' },
            });
            expect(Buffer.from(await got.arrayBuffer()).equals(Buffer.from(whole))).toBe(true);
            expect([got.status, got.headers.get('x-own')]).toEqual([200, 'yes']);
            const seen = server.requests.at(-1);
            expect(seen?.body.toString()).toBe(sent);
            expect([seen?.url, seen?.headers['x-stainless-lang']]).toEqual([path(isStreaming), 'kept']);
            const record = place.records.at(-1);
            const cacheWrite = dialect === 'messages' ? (complete.usage?.cacheWrite ?? 0) : 0;
            expect(record?.usage).toEqual({
              input: complete.usage?.input,
              cached_input: complete.usage?.cachedInput,
              cache_write: cacheWrite,
              output: complete.usage?.output,
              reasoning: complete.usage?.reasoning,
              source: 'provider',
            });
            expect(record?.cost).toBe(
              price === null || record === undefined ? null : costOf(record.usage, price),
            );
            expect(record?.answer).toMatchObject({
              text: complete.text,
              tool_calls: complete.toolCalls.map(({ name, input }) => ({ name, input: JSON.parse(input) })),
            });
            expect(record?.answeredBy).toBe('answering-model');
            expect(record?.wire).toMatchObject({ dialect, request: sent, response: whole });
          },
        ),
        { numRuns: 60 },
      );
    });
  },
);
