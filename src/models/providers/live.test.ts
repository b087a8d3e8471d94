import { describe, expect, it } from 'vitest';
import { builtInProviders, createProviderAdapter, type ProviderKind, providerState } from './index.ts';

/*
 * Asks the real providers, which costs a little. Skipped unless it is asked for:
 *   MLAB_LIVE_TESTS=1 ANTHROPIC_API_KEY=… npx vitest run --project quick src/models/providers/live.test.ts
 */

/** Small and cheap; MLAB_LIVE_MODEL_ANTHROPIC and the like name others. */
const models: Record<ProviderKind, string | null> = {
  anthropic: 'claude-haiku-4-5',
  openai: 'gpt-5-nano',
  google: 'gemini-2.5-flash-lite',
  'openai-compatible': null,
};
const isAsked = process.env.MLAB_LIVE_TESTS === '1';

const cases = builtInProviders.map((provider) => {
  const variable = `MLAB_LIVE_MODEL_${provider.toUpperCase().replace('-', '_')}`;
  const model = process.env[variable] ?? models[provider];
  const { problem } = providerState(provider, {}, process.env);
  const reason = !isAsked
    ? 'MLAB_LIVE_TESTS is not 1'
    : (problem?.message ?? (model === null ? `${variable} is not set` : null));
  return { provider, model, reason, title: reason === null ? provider : `${provider}; skipped: ${reason}` };
});

describe('a real provider', () => {
  for (const { provider, model, reason, title } of cases) {
    for (const stream of [true, false]) {
      it.skipIf(reason !== null)(`answers and counts its tokens, stream: ${stream} (${title})`, async () => {
        const adapter = await createProviderAdapter(`${provider}/${model}`, { stream }, process.env);
        const { answer, usage } = await adapter.call(
          {
            messages: [{ role: 'user', text: 'Reply with the word hello and nothing else.' }],
            tools: [],
            stop: [],
            temperature: null,
            maxOutputTokens: 2_000,
          },
          AbortSignal.timeout(60_000),
        );
        expect(answer).toMatchObject({ kind: 'answered', text: expect.stringMatching(/hello/i) });
        expect(usage?.input).toBeGreaterThan(0);
      });
    }
  }
});
