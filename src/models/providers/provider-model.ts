import type { OpenAIProvider } from '@ai-sdk/openai';
import type { ProviderAccess, ProviderKind } from './provider-state.ts';

/**
 * A model in the form of the AI SDK's provider packages: their "language model specification". The types are derived
 * from what a package returns, so they always match the version in use.
 */
export type ProviderModel = ReturnType<OpenAIProvider['languageModel']>;
export type ProviderCall = Parameters<ProviderModel['doGenerate']>[0];
export type ProviderPrompt = ProviderCall['prompt'];
export type ProviderTool = NonNullable<ProviderCall['tools']>[number];
export type ProviderResult = Awaited<ReturnType<ProviderModel['doGenerate']>>;
export type ProviderStream = Awaited<ReturnType<ProviderModel['doStream']>>['stream'];
export type ProviderOptions = NonNullable<ProviderCall['providerOptions']>;

/**
 * Loads only the package of this kind. Key and base URL are always passed: a package would otherwise read the
 * environment.
 */
export async function loadProviderModel(
  kind: ProviderKind,
  model: string,
  access: ProviderAccess,
  fetch: typeof globalThis.fetch,
): Promise<ProviderModel> {
  const baseURL = access.baseUrl;
  const apiKey = access.key ?? '';
  switch (kind) {
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic({ apiKey, baseURL, fetch }).languageModel(model);
    }
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      const openai = createOpenAI({ apiKey, baseURL, fetch });
      return speaksChat(model) ? openai.chat(model) : openai.responses(model);
    }
    case 'google': {
      const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
      return createGoogleGenerativeAI({ apiKey, baseURL, fetch }).languageModel(model);
    }
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const name = 'openaiCompatible';
      return createOpenAICompatible({ name, apiKey, baseURL, fetch, includeUsage: true }).languageModel(
        model,
      );
    }
  }
}

/**
 * Whether an OpenAI model uses Chat Completions rather than Responses. Families before the reasoning models do: only
 * there a model can end its reply at given texts, and they have no reasoning to send back.
 */
export function speaksChat(model: string): boolean {
  return /^(?:ft:)?(?:gpt-3\.5|gpt-4|chatgpt-4o)/.test(model);
}
