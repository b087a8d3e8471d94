import type { z } from 'zod';
import type { ProviderSettings } from '../../schema/index.ts';
import type { Variables } from './provider-state.ts';

/** Takes keys out of what is shown, recorded or thrown. */
export interface Redactor {
  /** For what a model said: takes out the keys that are known, and nothing else. */
  text(text: string): string;
  /** The same for every text of a JSON value. */
  json(value: Json): Json;
  /** For error texts: also takes out whatever looks like a key. */
  error(text: string): string;
}

type Json = z.infer<ReturnType<typeof z.json>>;

const mark = '[key]';
const secretVariable = /(_|^)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD)$/i;
/** Anything shorter is no secret (`none`, `x` for local servers), and taking it out would garble every text. */
const shortestSecret = 5;

export function createRedactor(settings: ProviderSettings, variables: Variables): Redactor {
  const secrets = Object.entries(variables)
    .filter(([name]) => name === settings.api_key_variable || secretVariable.test(name))
    .map(([, value]) => value?.trim() ?? '')
    .filter((value) => value.length >= shortestSecret);
  const forms = [...new Set(secrets.flatMap(writtenForms))].sort((a, b) => b.length - a.length);
  const text = (given: string) => forms.reduce((rest, form) => rest.replaceAll(form, mark), given);
  return {
    text,
    json: (value) => mapTexts(value, text),
    error: (given) => withoutLookalikes(text(given)),
  };
}

/** A secret as it may stand in a text: plain, escaped for JSON or a URL, in base64 alone or within something else. */
function writtenForms(secret: string): string[] {
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
    .replace(/\b(Bearer|Basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${mark}`)
    .replace(
      /((?:authorization|(?:x-)?(?:goog-)?api[-_]?key|access[-_]?token)["']?\s*[:=]\s*["']?)(?!Bearer|Basic)[^\s"',;&}]{6,}/gi,
      `$1${mark}`,
    )
    .replace(/\b(?:sk-|pk-|rk-|AIza|gsk_|hf_|xai-|r8_|ya29\.)[\w.*-]{6,}/g, mark);
}

function mapTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [change(name), mapTexts(item, change)]),
  );
}
