import type { ModelPrice, TokenUsage } from '../schema/index.ts';
import { type KnownPrice, knownPrices, type PriceTier } from './known-prices.ts';

/** A date at the end of a model's name: `-20251001`, `-2025-10-01`, `@20251001`. */
const dateSuffix = /[-@](\d{8}|\d{4}-\d{2}-\d{2})$/;

/** Prices of models by name: given prices first, then the built-in ones. */
export class PriceTable {
  readonly #prices: ReadonlyMap<string, KnownPrice>;

  constructor(given: Readonly<Record<string, ModelPrice>> = {}) {
    this.#prices = new Map(Object.entries({ ...knownPrices, ...given }));
  }

  /** The price of exactly this name, else of the name without its date; null if neither is known. */
  priceOf(model: string): KnownPrice | null {
    return this.#prices.get(model) ?? this.#prices.get(model.replace(dateSuffix, '')) ?? null;
  }

  entries(): [model: string, price: KnownPrice][] {
    return [...this.#prices].sort(([a], [b]) => a.localeCompare(b));
  }
}

/**
 * The cost of a call, in US dollars:
 *
 *     (input − cached_input − cache_write) · price.input
 *     + cached_input · price.cached_input + cache_write · price.cache_write
 *     + output · price.output
 *
 * each divided by a million. Reasoning is a part of the output and costs the same. If a price has a second tier, it
 * applies to all tokens of a call with a long prompt.
 */
export function costOf(usage: TokenUsage, price: KnownPrice): number {
  const tier = tierFor(usage.input, price);
  const plain = Math.max(0, usage.input - usage.cached_input - usage.cache_write);
  const dollars =
    plain * tier.input +
    usage.cached_input * (tier.cached_input ?? tier.input) +
    usage.cache_write * (tier.cache_write ?? tier.input) +
    usage.output * tier.output;
  return dollars / 1e6;
}

/** The maximum cost of up to so many tokens, in US dollars, however they are cached. */
export function mostThatCosts(tokens: { input: number; output: number }, price: KnownPrice): number {
  const { long_prompt } = price;
  const tiers: PriceTier[] =
    long_prompt !== undefined && tokens.input > long_prompt.above ? [price, long_prompt] : [price];
  const costs = tiers.map(({ input, cached_input = input, cache_write = input, output }) => {
    return tokens.input * Math.max(input, cached_input, cache_write) + tokens.output * output;
  });
  return Math.max(...costs) / 1e6;
}

function tierFor(input: number, price: KnownPrice): PriceTier {
  const { long_prompt } = price;
  return long_prompt !== undefined && input > long_prompt.above ? long_prompt : price;
}
