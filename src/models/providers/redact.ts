import type { z } from 'zod';
import type { ModelAnswer, ProviderSettings } from '../../schema/index.ts';
import type { ProviderVariables } from './provider-state.ts';

/** Removes keys from what is shown, recorded or thrown. */
export interface Redactor {
  /** For a model's output: removes only known keys. */
  text(text: string): string;
  /** Where that would remove something, in order. */
  find(text: string): { from: number; to: number }[];
  /** The same for every string of a JSON value. */
  json(value: Json): Json;
  /** For error texts: also removes anything that looks like a key. */
  error(text: string): string;
}

type Json = z.infer<ReturnType<typeof z.json>>;

export const keyMark = '[key]';
const secretVariable = /(_|^)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD)$/i;
/** Anything shorter is not a secret (`none`, `x` for local servers). */
const shortestSecret = 5;

export function createRedactor(settings: ProviderSettings, variables: ProviderVariables): Redactor {
  const secrets = Object.entries(variables)
    .filter(([name]) => name === settings.api_key_variable || secretVariable.test(name))
    .map(([, value]) => value?.trim() ?? '')
    .filter((value) => value.length >= shortestSecret);
  const all = without(secrets);
  const real = secrets.filter(isNoWord);
  const text = without(real);
  const forms = formsOf(real);
  return {
    text,
    find: (given) => placesOf(forms, given),
    json: (value) => mapTexts(value, text),
    error: (given) => withoutLookalikes(all(given)),
  };
}

/**
 * Local servers accept words as keys (`ollama`, `EMPTY`, `lm-studio`), and a variable named like a secret may contain
 * `false`: these must not be removed from a model's output. Real keys are long, or contain digits.
 */
function isNoWord(secret: string): boolean {
  return secret.length >= 20 || (secret.length >= 8 && /\d/.test(secret));
}

/** Removes these secrets from a text, in every form, the longest first. */
function without(secrets: readonly string[]): (text: string) => string {
  const forms = formsOf(secrets);
  return (text) => forms.reduce((rest, form) => rest.replaceAll(form, keyMark), text);
}

/** The longest first. */
function formsOf(secrets: readonly string[]): string[] {
  return [...new Set(secrets.flatMap(writtenForms))].sort((a, b) => b.length - a.length);
}

function placesOf(forms: readonly string[], text: string): { from: number; to: number }[] {
  const all: { from: number; to: number }[] = [];
  for (const form of forms)
    for (let from = text.indexOf(form); from >= 0; from = text.indexOf(form, from + form.length))
      all.push({ from, to: from + form.length });
  const places: typeof all = [];
  for (const place of all.sort((a, b) => a.from - b.from)) {
    const last = places.at(-1);
    if (last === undefined || place.from >= last.to) places.push(place);
    else last.to = Math.max(last.to, place.to);
  }
  return places;
}

export function answerWithoutKeys(answer: ModelAnswer, redactor: Redactor): ModelAnswer {
  if (answer.kind !== 'answered') return { ...answer, message: redactor.text(answer.message) };
  return {
    ...answer,
    text: redactor.text(answer.text),
    tool_calls: answer.tool_calls.map(({ id, name, input }) => ({
      id: redactor.text(id),
      name: redactor.text(name),
      input: redactor.json(input),
    })),
    ...(answer.provider === undefined ? {} : { provider: redactor.json(answer.provider) }),
  };
}

/** A secret as it may occur in a text: plain, escaped for JSON or a URL, in base64 alone or within something else. */
export function writtenForms(secret: string): string[] {
  const plain = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
  return [...plain, ...base64Forms(secret)];
}

/** What base64 makes of it at each of the three places it can have in a group of three bytes; edges are left off. */
function base64Forms(secret: string): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]);
    const firstWhole = offset === 0 ? 0 : 4;
    const lastWhole = Math.floor(bytes.length / 3) * 4;
    const core = bytes.toString('base64').slice(firstWhole, lastWhole);
    if (core.length < shortestSecret) return [];
    return [core, core.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

/** Keys that are not ours to know: a gateway's own, say. */
function withoutLookalikes(text: string): string {
  return text
    .replace(/\b(Bearer|Basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${keyMark}`)
    .replace(
      /((?:authorization|(?:x-)?(?:goog-)?api[-_]?key|access[-_]?token)["']?\s*[:=]\s*["']?)(?!Bearer|Basic)[^\s"',;&}]{6,}/gi,
      `$1${keyMark}`,
    )
    .replace(/\b(?:sk-|pk-|rk-|AIza|gsk_|hf_|xai-|r8_|ya29\.)[\w.*-]{6,}/g, keyMark);
}

function mapTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [change(name), mapTexts(item, change)]),
  );
}
