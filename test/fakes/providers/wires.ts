import type { ProviderServer } from './server.ts';

/** The keys that tests use, one per provider, by environment variable. */
export const fakeKeys = {
  ANTHROPIC_API_KEY: 'anthropic-secret-7f3a9c1e5b',
  OPENAI_API_KEY: 'openai-secret-2d8e4f6a0c',
  GOOGLE_GENERATIVE_AI_API_KEY: 'google-secret-9b1c3d5e7f',
  MLAB_OPENAI_COMPATIBLE_API_KEY: 'compatible-secret-4a6b8c0d2e',
};

/** One way to reach a model, for tests that apply to every format. */
export interface FakeWire {
  format: 'anthropic' | 'responses' | 'chat' | 'google' | 'compatible';
  /** `provider/model`. */
  model: string;
  key: string;
}

export const fakeWires: readonly FakeWire[] = [
  { format: 'anthropic', model: 'anthropic/claude-test-1', key: fakeKeys.ANTHROPIC_API_KEY },
  { format: 'responses', model: 'openai/gpt-5-test', key: fakeKeys.OPENAI_API_KEY },
  { format: 'chat', model: 'openai/gpt-4o-test', key: fakeKeys.OPENAI_API_KEY },
  { format: 'google', model: 'google/gemini-test', key: fakeKeys.GOOGLE_GENERATIVE_AI_API_KEY },
  {
    format: 'compatible',
    model: 'openai-compatible/llama-test',
    key: fakeKeys.MLAB_OPENAI_COMPATIBLE_API_KEY,
  },
];

/** Environment variables that make every provider this server. */
export function variablesFor(server: ProviderServer): Record<string, string> {
  return {
    ...fakeKeys,
    ANTHROPIC_BASE_URL: server.baseUrls.anthropic,
    OPENAI_BASE_URL: server.baseUrls.openai,
    GOOGLE_GENERATIVE_AI_BASE_URL: server.baseUrls.google,
    MLAB_OPENAI_COMPATIBLE_URL: server.baseUrls['openai-compatible'],
  };
}
