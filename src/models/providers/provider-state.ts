import { nearest } from '../../lib/nearest.ts';
import type { ProviderSettings } from '../../schema/index.ts';

/** Environment variables, as passed in: nothing here reads the environment itself. */
export type ProviderVariables = Readonly<Record<string, string | undefined>>;

/** The interfaces that are used over the network. */
export type ProviderKind = Exclude<NonNullable<ProviderSettings['kind']>, 'scripted'>;

interface KindFacts {
  /** The variables for the key; the first one that is set counts. */
  keyVariables: readonly [string, ...string[]];
  keyNeeded: boolean;
  baseUrlVariable: string;
  /** Null: there is no default address. */
  baseUrl: string | null;
  /** The path that is appended to a base URL without one. */
  versionPath: string;
}

export const openaiUrl = 'https://api.openai.com/v1';

const kinds: Record<ProviderKind, KindFacts> = {
  anthropic: {
    keyVariables: ['ANTHROPIC_API_KEY'],
    keyNeeded: true,
    baseUrlVariable: 'ANTHROPIC_BASE_URL',
    baseUrl: 'https://api.anthropic.com/v1',
    versionPath: '/v1',
  },
  openai: {
    keyVariables: ['OPENAI_API_KEY'],
    keyNeeded: true,
    baseUrlVariable: 'OPENAI_BASE_URL',
    baseUrl: openaiUrl,
    versionPath: '/v1',
  },
  google: {
    keyVariables: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
    keyNeeded: true,
    baseUrlVariable: 'GOOGLE_GENERATIVE_AI_BASE_URL',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    versionPath: '/v1beta',
  },
  'openai-compatible': {
    keyVariables: ['MLAB_OPENAI_COMPATIBLE_API_KEY'],
    keyNeeded: false,
    baseUrlVariable: 'MLAB_OPENAI_COMPATIBLE_URL',
    baseUrl: null,
    versionPath: '',
  },
};

/** The providers that need no settings; each is named after its interface. */
export const builtInProviders: readonly ProviderKind[] = [
  'anthropic',
  'openai',
  'google',
  'openai-compatible',
];

/** The environment variables of a provider that needs no settings. */
export function providerVariables(kind: ProviderKind): Pick<KindFacts, 'keyVariables' | 'baseUrlVariable'> {
  return kinds[kind];
}

/** The state of a provider before any call: shown by `mlab models`. It contains no key. */
export interface ProviderState {
  provider: string;
  kind: ProviderKind;
  /** The variable for the key. */
  keyVariable: string;
  keyPresent: boolean;
  /** Whether calls need a key. */
  keyNeeded: boolean;
  /** Without user name, password and query; null if unknown. */
  baseUrl: string | null;
  usable: boolean;
  problem: ProviderProblem | null;
}

export interface ProviderProblem {
  code: 'key_missing' | 'base_url_missing' | 'base_url_invalid';
  message: string;
  hint: string;
}

/** What a provider's package gets. */
export interface ProviderAccess {
  key: string | null;
  baseUrl: string;
}

/** The state of `provider` (the part of a model's name before the first slash) with these settings and variables. */
export function providerState(
  provider: string,
  settings: ProviderSettings,
  variables: ProviderVariables,
): ProviderState {
  const { kind, keyVariable, key, keyNeeded, baseUrl, problem } = look(provider, settings, variables);
  return {
    provider,
    kind,
    keyVariable,
    keyPresent: key !== null,
    keyNeeded,
    baseUrl: baseUrl === null ? null : shownUrl(baseUrl),
    usable: problem === null,
    problem,
  };
}

/** The key and address of a provider, or what is missing. */
export function providerAccess(
  provider: string,
  settings: ProviderSettings,
  variables: ProviderVariables,
): ProviderAccess | ProviderProblem {
  const { key, baseUrl, problem } = look(provider, settings, variables);
  if (problem !== null) return problem;
  if (baseUrl === null) throw new Error(`a base URL is missing and no problem was found (${provider})`);
  return { key, baseUrl };
}

function look(provider: string, settings: ProviderSettings, variables: ProviderVariables) {
  const kind = kindOf(provider, settings);
  const facts = kinds[kind];
  const keyVariable =
    settings.api_key_variable ??
    facts.keyVariables.find((name) => present(variables[name]) !== null) ??
    facts.keyVariables[0];
  const key = present(variables[keyVariable]);
  const keyNeeded = facts.keyNeeded || settings.api_key_variable !== undefined;
  const baseUrl = baseUrlOf(provider, facts, settings, variables);
  const problem =
    keyProblem(provider, keyVariable, key, keyNeeded) ??
    pairProblem(provider, facts, settings, variables) ??
    baseUrlProblem(provider, facts, baseUrl);
  return { kind, keyVariable, key, keyNeeded, baseUrl, problem };
}

function kindOf(provider: string, settings: ProviderSettings): ProviderKind {
  if (settings.kind === 'scripted') throw new Error('a scripted provider is not reached over the network');
  return settings.kind ?? builtInProviders.find((name) => name === provider) ?? 'openai-compatible';
}

/** The general variable applies only to the provider of that exact name: a misspelt provider must not use it. */
function baseUrlOf(
  provider: string,
  facts: KindFacts,
  settings: ProviderSettings,
  variables: ProviderVariables,
): string | null {
  const isKnown = builtInProviders.some((name) => name === provider) || settings.kind !== undefined;
  const given = settings.base_url ?? (isKnown ? present(variables[facts.baseUrlVariable]) : null);
  if (given === null) return isKnown ? facts.baseUrl : null;
  if (!URL.canParse(given)) return given;
  const url = new URL(given);
  if (url.pathname === '/') url.pathname = facts.versionPath;
  return url.href.replace(/\/+$/, '');
}

function present(value: string | undefined): string | null {
  const trimmed = value?.trim() ?? '';
  return trimmed === '' ? null : trimmed;
}

function keyProblem(
  provider: string,
  variable: string,
  key: string | null,
  keyNeeded: boolean,
): ProviderProblem | null {
  if (key === null && keyNeeded) {
    return {
      code: 'key_missing',
      message: `There is no key for ${provider}: the environment variable ${variable} is not set.`,
      hint: `Set ${variable} to your key.`,
    };
  }
  // Such a key can't be sent in a header, and the error of the attempt would show it.
  if (key !== null && !/^[\x21-\x7e]+$/.test(key)) {
    return {
      code: 'key_missing',
      message: `What stands in ${variable} is no key: it holds spaces, line breaks or other characters that no key has.`,
      hint: `Set ${variable} to the key alone.`,
    };
  }
  return null;
}

/**
 * An address in the environment belongs to a key in the environment: it may come from the `.env` of somebody else's
 * folder.
 */
function pairProblem(
  provider: string,
  { keyVariables, baseUrlVariable }: KindFacts,
  { base_url: address, api_key_variable: variable }: ProviderSettings,
  variables: ProviderVariables,
): ProviderProblem | null {
  if (variable === undefined || keyVariables.includes(variable)) return null;
  if (address !== undefined || present(variables[baseUrlVariable]) === null) return null;
  return {
    code: 'base_url_missing',
    message: `${provider} has a key of its own, in ${variable}, and its settings do not say where that is sent: ${baseUrlVariable} is set.`,
    hint: 'Set base_url in its settings.',
  };
}

function baseUrlProblem(provider: string, facts: KindFacts, baseUrl: string | null): ProviderProblem | null {
  if (baseUrl === null) return baseUrlMissing(provider, facts);
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '')
    return null;
  return {
    code: 'base_url_invalid',
    message: `The base URL of ${provider} is not one of http or https without user name and password.`,
    hint: `Correct base_url in its settings, or ${facts.baseUrlVariable}; a key belongs in a variable of its own.`,
  };
}

function baseUrlMissing(provider: string, facts: KindFacts): ProviderProblem {
  if (provider === 'openai-compatible') {
    return {
      code: 'base_url_missing',
      message: 'It is not known where the OpenAI-compatible server is.',
      hint: `Set ${facts.baseUrlVariable} (or give --base-url), for example to http://localhost:11434/v1.`,
    };
  }
  const similar = nearest(provider, builtInProviders);
  return {
    code: 'base_url_missing',
    message: `There is no provider ${provider} by itself, and its settings name no base URL.`,
    hint: `${similar === null ? '' : `Did you mean ${similar}? `}Built in are ${builtInProviders.join(', ')}; any other needs base_url in its settings, for example http://localhost:11434/v1.`,
  };
}

function shownUrl(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  return `${url.origin}${url.pathname === '/' ? '' : url.pathname}`;
}
