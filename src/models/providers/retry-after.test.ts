import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { retryAfterMs } from './retry-after.ts';

const now = Date.parse('2026-01-01T00:00:00Z');

describe('the wait that a provider asks for', () => {
  it.each([
    ['seconds', { 'retry-after': '7' }, '', 7_000],
    ['parts of a second', { 'retry-after': '0.5' }, '', 500],
    ['a date', { 'retry-after': 'Thu, 01 Jan 2026 00:01:30 GMT' }, '', 90_000],
    ['a date that is past', { 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, '', 0],
    ['milliseconds, which are more exact', { 'retry-after-ms': '1500', 'retry-after': '2' }, '', 1_500],
    [
      "Google's RetryInfo",
      {},
      '{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.07s"}',
      34_070,
    ],
    ["OpenAI's words", {}, 'Limit 3. Please try again in 1m12.5s. Visit …', 72_500],
    ['a few milliseconds in words', {}, 'Please try again in 20ms.', 20],
    ['words with a whole word', {}, 'Please retry after 8 seconds.', 8_000],
  ])('is read from %s', (_, headers, body, expected) => {
    expect(retryAfterMs(headers, body, now)).toBe(expected);
  });

  it.each([
    ['nothing', {}, ''],
    ['an empty header', { 'retry-after': ' ' }, ''],
    ['a number that is none', {}, '{"retryDelay":"1.2.3s"}'],
    ['more than any time', { 'retry-after': '1e308' }, ''],
    ['words without a time', { 'retry-after': 'later' }, 'Please try again in a while'],
  ])('is not known from %s', (_, headers, body) => {
    expect(retryAfterMs(headers, body, now)).toBeNull();
  });

  it('is never negative, and always a number', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (milliseconds, seconds, body) => {
        const wait = retryAfterMs(
          { 'retry-after-ms': milliseconds, 'retry-after': seconds },
          `try again in ${body}`,
          now,
        );
        expect(wait === null || (Number.isFinite(wait) && wait >= 0)).toBe(true);
      }),
    );
  });
});
