import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EventBlocks } from './event-blocks.ts';
import { SecretFilter } from './secret-filter.ts';

/** A text cut into pieces. */
const pieces = (text: fc.Arbitrary<string>) =>
  fc.tuple(text, fc.array(fc.nat(), { maxLength: 10 })).map(([whole, places]) => {
    const bytes = Buffer.from(whole);
    const cuts = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
    return {
      whole,
      pieces: [0, ...cuts].map((from, index) => bytes.subarray(from, cuts[index] ?? bytes.length)),
    };
  });

describe('forwarded bytes', () => {
  test('lose a secret wherever it is split, and nothing else', () => {
    const secret = 'aabaabaac';
    const text = fc.array(fc.constantFrom('a', 'b', 'c', 'aab', 'é', secret)).map((parts) => parts.join(''));
    fc.assert(
      fc.property(pieces(text), ({ whole, pieces }) => {
        const filter = new SecretFilter(secret);
        const passed = [...pieces.map((piece) => filter.pass(piece)), filter.end()];
        expect(Buffer.concat(passed).toString()).toBe(whole.replaceAll(secret, '[key]'));
      }),
      { numRuns: 500 },
    );
  });

  test('lose every form of a secret wherever it is split', () => {
    const secret = 'a "key" of 2026/+';
    const base64 = (before: string) => Buffer.from(before + secret).toString('base64');
    const forms = [
      secret,
      JSON.stringify(secret),
      encodeURIComponent(secret),
      ...['', 'x', 'xy'].map(base64),
    ];
    const text = fc.array(fc.constantFrom('a', ' ', '%', 'Y', ...forms)).map((parts) => parts.join('\n'));
    fc.assert(
      fc.property(pieces(text), ({ whole, pieces }) => {
        const filter = new SecretFilter(secret);
        const passed = [...pieces.map((piece) => filter.pass(piece)), filter.end()];
        const lines = Buffer.concat(passed).toString().split('\n');
        expect(lines.length).toBe(whole.split('\n').length);
        for (const line of lines) expect(line).toMatch(/^"?(.{0,4}\[key\].{0,4}|.?)"?$/);
      }),
      { numRuns: 500 },
    );
  });

  test('are divided into the same events however they were split', () => {
    const text = fc
      .array(fc.constantFrom('data: 1', '\n', '\r\n', '\r', ': é'))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(pieces(text), ({ whole, pieces }) => {
        const [cut, uncut] = [new EventBlocks(), new EventBlocks()];
        const blocks = pieces.flatMap((piece) => cut.add(piece));
        const expected = uncut.add(Buffer.from(whole));
        expect(expected.map(String)).toEqual(whole.match(/[\s\S]*?(\n\n|\r\r|\r\n\r\n)/g) ?? []);
        expect(Buffer.concat([...blocks, cut.end()]).toString()).toBe(whole);
        expect(blocks.map(String)).toEqual(expected.map(String));
        for (const block of blocks) expect(block.toString()).toMatch(/(\n\n|\r\r|\r\n\r\n)$/);
      }),
    );
  });

  test('are passed on in parts of a MiB where an event does not end, and as events again after it', () => {
    const blocks = new EventBlocks();
    const piece = Buffer.alloc(1000, 'data: x\n');
    const parts = Array.from({ length: 50_000 }, () => blocks.add(piece)).flat();
    expect(parts.map(({ length }) => length)).toEqual(Array(parts.length).fill(1_049_000));
    expect(parts.length).toBe(47);
    const after = blocks.add(Buffer.from('\n: last\n\n')).map(String);
    expect(after).toEqual([expect.stringMatching(/^data: x\n[\s\S]*data: x\n\n$/), ': last\n\n']);
    expect(blocks.end().length).toBe(0);
  });
});
