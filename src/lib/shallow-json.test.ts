import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deepestStored, isShallow, parseShallowJson, parseSmallJson } from './shallow-json.ts';

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

test('JSON of others is parsed unchanged up to 200 levels', () => {
  expect(parseShallowJson('{"a":["[[","\\"]"],"b":null}')).toEqual({ a: ['[[', '"]'], b: null });
  expect(JSON.stringify(parseShallowJson(nested(200)))).toBe(nested(200));
});

test('deeper nesting is refused like invalid JSON', () => {
  for (const text of [nested(201), nested(1_000_000), '{"a":'.repeat(300), '{'])
    expect(() => parseShallowJson(text)).toThrow(SyntaxError);
});

test('levels of a parsed value are counted as in its text', () => {
  const value = { list: [[], 'text', null], empty: {} };
  for (const levels of [0, 1, 2, 3, 4]) expect(isShallow(value, levels), `${levels}`).toBe(levels >= 3);
  expect(() => parseShallowJson(JSON.stringify(value), 2)).toThrow('deep');
  expect(parseShallowJson(JSON.stringify(value), 3)).toEqual(value);
  expect(isShallow(JSON.parse(nested(100_000)), deepestStored)).toBe(false);
});

test('brackets inside texts do not count as levels', () => {
  const text = JSON.stringify({ code: '['.repeat(1000) });
  expect(parseShallowJson(text)).toEqual({ code: '['.repeat(1000) });
});

test('accepted values can be read again as part of stored documents', () => {
  expect(deepestStored).toBeGreaterThan(250);
  expect(parseShallowJson(nested(deepestStored), deepestStored)).toBeDefined();
});

test('quotes and escapes in texts neither hide brackets nor count as such', () => {
  const piece = fc.constantFrom('"', '\\', '[', ']', '{', '}', ',', 'a', '\n', '\u2028');
  const text = fc.array(piece).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(fc.array(text), (texts) => {
      const json = JSON.stringify(texts);
      // A value for the array, one for the first of its elements and each comma.
      const values = 1 + Math.max(1, texts.length);
      expect(parseShallowJson(json, 1)).toEqual(texts);
      expect(() => parseShallowJson(`[${json}]`, 1)).toThrow('deep');
      expect(parseSmallJson(json, values)).toEqual(texts);
      expect(() => parseSmallJson(json, texts.length)).toThrow('values');
    }),
  );
});
