import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ModelAnswer,
  ModelName,
  ModelPrice,
  type ModelRequest,
  type TokenUsage,
} from '../schema/index.ts';
import { maxInputTokens, probableUsage } from './estimate.ts';
import { type KnownPrice, knownPrices } from './known-prices.ts';
import { costOf, mostThatCosts, PriceTable } from './prices.ts';

const price: KnownPrice = {
  ...{ input: 3, cached_input: 0.3, cache_write: 3.75, output: 15 },
  ...{ date: '2026-01-01', source: 'test' },
};
const usage: TokenUsage = {
  ...{ input: 1_000_000, cached_input: 200_000, cache_write: 100_000, output: 500_000, reasoning: 400_000 },
  source: 'provider',
};

describe('prices', () => {
  test('have a model, a date and a source, and cached tokens cost no more than plain ones', () => {
    for (const [model, { long_prompt: _, ...known }] of Object.entries(knownPrices)) {
      expect(ModelName.safeParse(model).success, model).toBe(true);
      expect(ModelPrice.safeParse(known).success, model).toBe(true);
      expect(known.cached_input ?? 0, model).toBeLessThanOrEqual(known.input);
    }
  });

  test('are found by the exact name, then by the name without its date, else not at all', () => {
    const dated = { ...price, input: 9 };
    const table = new PriceTable({ 'own/model-20250101': dated, 'own/model': price });
    expect(table.priceOf('own/model-20250101')).toEqual(dated);
    expect(table.priceOf('own/model-20260202')).toEqual(price);
    expect(table.priceOf('own/model-2026-02-02')).toEqual(price);
    expect(table.priceOf('own/model-2')).toBeNull();
    expect(table.priceOf('own/other')).toBeNull();
    expect(table.priceOf('constructor/x')).toBeNull();
  });

  test('from the experiment have priority over known ones', () => {
    const model = 'anthropic/claude-haiku-4-5';
    expect(new PriceTable().priceOf(`${model}-20251001`)).toEqual(knownPrices[model]);
    expect(new PriceTable({ [model]: price }).priceOf(model)).toEqual(price);
  });
});

describe('the cost of a call', () => {
  test('counts plain, cached and written input separately, and reasoning as output', () => {
    expect(costOf(usage, price)).toBeCloseTo(0.7 * 3 + 0.2 * 0.3 + 0.1 * 3.75 + 0.5 * 15, 10);
  });

  test('treats cached tokens as input if no price for them is known', () => {
    const { input, output, date, source } = price;
    expect(costOf(usage, { input, output, date, source })).toBeCloseTo(3 + 7.5, 10);
  });

  test('applies the second tier to the whole call if its prompt is long', () => {
    const tiered = { ...price, long_prompt: { above: 999_999, input: 6, output: 30 } };
    expect(costOf(usage, tiered)).toBeCloseTo(6 + 15, 10);
    expect(costOf({ ...usage, input: 999_999 }, tiered)).toBeLessThan(11);
  });

  test('never exceeds the maximum for that many tokens', () => {
    const dollars = fc.double({ min: 0, max: 100, noNaN: true });
    const tier = { input: dollars, cached_input: dollars, cache_write: dollars, output: dollars };
    const anyPrice = fc.record({
      ...tier,
      date: fc.constant('2026-01-01'),
      source: fc.constant('test'),
      long_prompt: fc.record({ ...tier, above: fc.nat(2000) }),
    });
    const tokens = fc.record({
      input: fc.nat(3000),
      output: fc.nat(3000),
      parts: fc.tuple(fc.nat(), fc.nat()),
    });
    fc.assert(
      fc.property(anyPrice, tokens, fc.nat(1000), (any, { input, output, parts }, spare) => {
        const cached_input = parts[0] % (input + 1);
        const cache_write = parts[1] % (input - cached_input + 1);
        const used: TokenUsage = {
          input,
          cached_input,
          cache_write,
          output,
          reasoning: 0,
          source: 'provider',
        };
        const most = mostThatCosts({ input: input + spare, output: output + spare }, any);
        expect(costOf(used, any)).toBeLessThanOrEqual(most * (1 + 1e-12));
      }),
    );
  });
});

describe('tokens of a request', () => {
  const request = (text: string): ModelRequest => ({
    role: 'agent',
    purpose: 'test',
    messages: [
      { role: 'system', text },
      { role: 'assistant', text, tool_calls: [{ id: '1', name: 'ls', input: { text } }], provider: { text } },
      { role: 'tool', call_id: '1', name: 'ls', text },
    ],
    tools: [{ name: 'ls', description: text, input_schema: { type: 'object' } }],
  });

  test('are at most as many as the bytes of everything that is sent', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(maxInputTokens(request(text))).toBeGreaterThanOrEqual(6 * Buffer.byteLength(text));
      }),
    );
  });

  test('are estimated if the provider does not count them, and none for a request that was not read', () => {
    const messages: ModelRequest['messages'] = [{ role: 'user', text: 'abcdef' }];
    const asked = { messages, tools: [], maxOutputTokens: 100 };
    const answer: ModelAnswer = { kind: 'answered', text: 'äöü', tool_calls: [], finish: 'stop' };
    expect(probableUsage(asked, answer)).toMatchObject({ input: 2, output: 2, source: 'estimate' });
    const tooLong: ModelAnswer = { kind: 'context_too_long', message: 'no' };
    expect(probableUsage(asked, tooLong)).toMatchObject({ input: 0, output: 0 });
  });

  test('are never estimated above the limit of the reply', () => {
    const asked = { messages: [], tools: [], maxOutputTokens: 100 };
    const long: ModelAnswer = { kind: 'answered', text: '7'.repeat(900), tool_calls: [], finish: 'length' };
    expect(probableUsage(asked, long).output).toBe(100);
  });
});
