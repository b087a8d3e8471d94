import { describe, expect, it } from 'vitest';
import { UserError } from '../../lib/errors.ts';
import { ProviderError } from '../provider-adapter.ts';
import { builtInProviders, createProviderAdapter, providerState } from './index.ts';

describe('the state of a provider', () => {
  it.each([
    ['anthropic', 'ANTHROPIC_API_KEY', 'https://api.anthropic.com/v1'],
    ['openai', 'OPENAI_API_KEY', 'https://api.openai.com/v1'],
    ['google', 'GOOGLE_GENERATIVE_AI_API_KEY', 'https://generativelanguage.googleapis.com/v1beta'],
  ])('%s needs %s and nothing else', (provider, keyVariable, baseUrl) => {
    expect(providerState(provider, {}, {})).toMatchObject({
      keyVariable,
      keyNeeded: true,
      usable: false,
      problem: { code: 'key_missing', hint: expect.stringContaining(keyVariable) },
    });
    const state = providerState(provider, {}, { [keyVariable]: 'a-real-secret' });
    expect(state).toMatchObject({ kind: provider, keyPresent: true, baseUrl, usable: true, problem: null });
    expect(JSON.stringify(state)).not.toContain('a-real-secret');
  });

  it('finds the key of Google in either of its variables', () => {
    expect(providerState('google', {}, { GEMINI_API_KEY: 'secret' })).toMatchObject({
      keyVariable: 'GEMINI_API_KEY',
      usable: true,
    });
  });

  it('needs a base URL and no key for a compatible server', () => {
    expect(providerState('openai-compatible', {}, {}).problem).toMatchObject({
      code: 'base_url_missing',
      hint: expect.stringContaining('MLAB_OPENAI_COMPATIBLE_URL'),
    });
    const variables = { MLAB_OPENAI_COMPATIBLE_URL: 'http://localhost:11434/v1/' };
    expect(providerState('openai-compatible', {}, variables)).toMatchObject({
      usable: true,
      keyNeeded: false,
      baseUrl: 'http://localhost:11434/v1',
    });
  });

  it('never sends its own key to an address that the environment has for another key', () => {
    const variables = { OPENAI_BASE_URL: 'https://evil.example', OPENAI_API_KEY: 'one', TEAM_KEY: 'other' };
    const second = { kind: 'openai', api_key_variable: 'TEAM_KEY' } as const;
    const { problem } = providerState('second', second, variables);
    expect(problem).toMatchObject({ code: 'base_url_missing', hint: 'Set base_url in its settings.' });
    const usable = [
      providerState('second', { ...second, base_url: 'https://team.example' }, variables),
      providerState('second', { ...second, api_key_variable: 'OPENAI_API_KEY' }, variables),
      providerState('second', second, { TEAM_KEY: 'other' }),
    ];
    expect(usable.map(({ problem }) => problem)).toEqual([null, null, null]);
  });

  it('accepts a provider of any name with settings', () => {
    const settings = { base_url: 'http://localhost:8000/v1', api_key_variable: 'VLLM_KEY' };
    expect(providerState('vllm', settings, {}).problem).toMatchObject({ code: 'key_missing' });
    expect(providerState('vllm', settings, { VLLM_KEY: 'secret' })).toMatchObject({
      kind: 'openai-compatible',
      keyVariable: 'VLLM_KEY',
      usable: true,
    });
    const gateway = { kind: 'anthropic', base_url: 'https://gateway.test' } as const;
    expect(providerState('gateway', gateway, { ANTHROPIC_API_KEY: 'secret' })).toMatchObject({
      kind: 'anthropic',
      baseUrl: 'https://gateway.test/v1',
      usable: true,
    });
  });

  it('sends nothing to a misspelt provider, and says which one was probably meant', () => {
    const variables = { MLAB_OPENAI_COMPATIBLE_URL: 'http://localhost:11434/v1' };
    expect(providerState('antropic', {}, variables).problem).toMatchObject({
      code: 'base_url_missing',
      hint: expect.stringContaining('Did you mean anthropic?'),
    });
  });

  it.each([
    ['is not a URL', 'localhost:11434'],
    ['is not an HTTP address', 'file:///etc/passwd'],
    ['holds a password', 'https://me:hunter2@gateway.test/v1'],
  ])('is unusable with a base URL that %s, and does not show it', (_, url) => {
    const variables = { OPENAI_API_KEY: 'secret', OPENAI_BASE_URL: url };
    const state = providerState('openai', {}, variables);
    expect(state.problem).toMatchObject({
      code: 'base_url_invalid',
      hint: expect.stringContaining('OPENAI_BASE_URL'),
    });
    expect(JSON.stringify(state)).not.toContain('hunter2');
  });

  it('refuses a key that could not be sent, without showing it', () => {
    const state = providerState('openai', {}, { OPENAI_API_KEY: 'half a\nsecret' });
    expect(state).toMatchObject({ usable: false, problem: { code: 'key_missing' } });
    expect(JSON.stringify(state)).not.toContain('half a');
  });

  it('can be determined for every built-in provider', () => {
    expect(builtInProviders.map((name) => providerState(name, {}, {}).kind)).toEqual(builtInProviders);
  });
});

describe('a model', () => {
  it('is refused without a key, naming the variable', async () => {
    const refused = createProviderAdapter('anthropic/claude-test', {}, { OPENAI_API_KEY: 'another' });
    await expect(refused).rejects.toBeInstanceOf(ProviderError);
    await expect(refused).rejects.toMatchObject({
      failure: 'key_missing',
      isPassing: false,
      message: expect.stringContaining('ANTHROPIC_API_KEY'),
      hint: expect.stringContaining('ANTHROPIC_API_KEY'),
    });
  });

  it('is refused without a base URL, saying how to give one', async () => {
    const refused = createProviderAdapter('vllm/llama', {}, {});
    await expect(refused).rejects.toBeInstanceOf(UserError);
    await expect(refused).rejects.toMatchObject({ hint: expect.stringContaining('base_url') });
  });

  it('is refused under a name without a provider', async () => {
    await expect(createProviderAdapter('gpt-5', {}, {})).rejects.toBeInstanceOf(UserError);
  });
});
