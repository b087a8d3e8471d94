import type { ModelPrice } from '../schema/index.ts';

/** US dollars per million tokens; missing values are as for input. */
export type PriceTier = Pick<ModelPrice, 'input' | 'cached_input' | 'cache_write' | 'output'>;

/** The prices of all tokens of a call, including the answer, if its prompt is longer than this. */
export interface LongPromptPrice extends PriceTier {
  above: number;
}

export interface KnownPrice extends ModelPrice {
  long_prompt?: LongPromptPrice;
}

const anthropicPage = 'platform.claude.com/docs/en/about-claude/pricing';
const openaiPage = 'developers.openai.com/api/docs/pricing';
const googlePage = 'ai.google.dev/gemini-api/docs/pricing';

/**
 * Standard prices, in US dollars per million tokens, as reported from the providers' pages on the dates given. Cache
 * writes are those of five minutes. If no price of cached tokens was found they count as input, which is too much
 * rather than too little. Prices change: `prices` in an experiment file override this table.
 */
export const knownPrices: Readonly<Record<string, KnownPrice>> = {
  ...priced('anthropic', '2026-10-24', anthropicPage, {
    'claude-opus-5-5': { input: 4, cached_input: 0.2, cache_write: 5, output: 20 },
    'claude-sonnet-5-5': { input: 2, cached_input: 0.1, cache_write: 2.5, output: 10 },
    'claude-haiku-5-5': {
      ...{ input: 0.1, cached_input: 0.01, cache_write: 0.125, output: 0.5 },
      long_prompt: { above: 100_000, input: 0.5, cached_input: 0.05, cache_write: 0.625, output: 2.5 },
    },
    'claude-fable-5-1': { input: 10, cached_input: 0.25, cache_write: 12.5, output: 50 },
    'claude-opus-5': { input: 5, cached_input: 0.5, cache_write: 6.25, output: 25 },
    'claude-sonnet-5': { input: 2, cached_input: 0.2, cache_write: 2.5, output: 10 },
    'claude-opus-4-8': { input: 5, cached_input: 0.5, cache_write: 6.25, output: 25 },
    'claude-opus-4-7': { input: 5, cached_input: 0.5, cache_write: 6.25, output: 25 },
    'claude-opus-4-6': { input: 5, cached_input: 0.5, cache_write: 6.25, output: 25 },
    'claude-sonnet-4-6': { input: 3, cached_input: 0.3, cache_write: 3.75, output: 15 },
    'claude-opus-4-5': { input: 5, cached_input: 0.5, cache_write: 6.25, output: 25 },
    'claude-sonnet-4-5': { input: 3, cached_input: 0.3, cache_write: 3.75, output: 15 },
    'claude-haiku-4-5': { input: 1, cached_input: 0.1, cache_write: 1.25, output: 5 },
  }),
  ...priced('openai', '2026-09-29', openaiPage, {
    'gpt-6.1-sol': {
      ...{ input: 2, cached_input: 0.1, cache_write: 2.5, output: 10 },
      long_prompt: { above: 272_000, input: 4, cached_input: 0.2, cache_write: 5, output: 15 },
    },
  }),
  ...priced('openai', '2026-09-22', openaiPage, {
    'gpt-6-sol': {
      ...{ input: 2, cached_input: 0.2, cache_write: 2.5, output: 10 },
      long_prompt: { above: 272_000, input: 4, cached_input: 0.4, cache_write: 5, output: 15 },
    },
    'gpt-6-luna': {
      ...{ input: 0.1, cached_input: 0.01, cache_write: 0.125, output: 0.5 },
      long_prompt: { above: 272_000, input: 0.2, cached_input: 0.02, cache_write: 0.25, output: 0.75 },
    },
  }),
  ...priced('openai', '2026-03-21', openaiPage, {
    'gpt-5.4': {
      ...{ input: 2.5, cached_input: 0.25, output: 15 },
      long_prompt: { above: 272_000, input: 5, cached_input: 0.5, output: 22.5 },
    },
    'gpt-5.1': { input: 1.25, cached_input: 0.125, output: 10 },
    'gpt-5': { input: 1.25, cached_input: 0.125, output: 10 },
    'gpt-5-mini': { input: 0.25, cached_input: 0.025, output: 2 },
    'gpt-5-nano': { input: 0.05, cached_input: 0.005, output: 0.4 },
    'gpt-4.1': { input: 2, cached_input: 0.5, output: 8 },
    'gpt-4.1-mini': { input: 0.4, cached_input: 0.1, output: 1.6 },
    'gpt-4.1-nano': { input: 0.1, cached_input: 0.025, output: 0.4 },
    'gpt-4o': { input: 2.5, cached_input: 1.25, output: 10 },
    'gpt-4o-mini': { input: 0.15, cached_input: 0.075, output: 0.6 },
    o3: { input: 2, output: 8 },
    'o3-mini': { input: 1.1, output: 4.4 },
    'o4-mini': { input: 1.1, output: 4.4 },
  }),
  ...priced('google', '2026-10-07', `${googlePage} (reduced until 2026-12-31)`, {
    'gemini-3.8-flash': { input: 0.75, output: 3.75 },
  }),
  ...priced('google', '2026-04-19', googlePage, {
    'gemini-3.1-pro-preview': {
      ...{ input: 2, cached_input: 0.2, output: 12 },
      long_prompt: { above: 200_000, input: 4, cached_input: 0.4, output: 18 },
    },
    'gemini-3.1-flash-lite-preview': { input: 0.25, output: 1.5 },
    'gemini-3-flash-preview': { input: 0.5, output: 3 },
    'gemini-2.5-flash-lite': { input: 0.1, output: 0.4 },
  }),
  ...priced('google', '2026-03-21', googlePage, {
    'gemini-2.5-pro': {
      ...{ input: 1.25, cached_input: 0.125, output: 10 },
      long_prompt: { above: 200_000, input: 2.5, cached_input: 0.25, output: 15 },
    },
    'gemini-2.5-flash': { input: 0.3, cached_input: 0.03, output: 2.5 },
  }),
};

function priced(
  provider: string,
  date: string,
  source: string,
  prices: Readonly<Record<string, Omit<KnownPrice, 'date' | 'source'>>>,
): Record<string, KnownPrice> {
  return Object.fromEntries(
    Object.entries(prices).map(([model, price]) => [`${provider}/${model}`, { ...price, date, source }]),
  );
}
