import type { z } from 'zod';
import type { FuzzRandom } from './random.ts';

type Json = z.infer<ReturnType<typeof z.json>>;

/** Deeper than the call stack. */
const deep = 20_000;
/** The size limit, because each mutation parses and serializes the text again. */
const maxCharacters = 100_000;

/** A JSON text with one value changed, added or removed; null for any other text. */
export function mutateJson(text: string, random: FuzzRandom, words: readonly string[]): string | null {
  if (!/^\s*[[{]/.test(text) || text.length > maxCharacters || deepestOf(text) > 200) return null;
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return null;
  }
  const places: Place[] = [];
  collect(value, places);
  if (places.length === 0) return JSON.stringify(odd(random, words));
  change(random.pick(places), random, words);
  const written = JSON.stringify(value);
  // As text, because a value this deep cannot be traversed.
  const nested = random.chance(0.5) ? ['[', ']'] : ['{"a":', '}'];
  return written.replace('"\\u0000deep"', `${nested[0]?.repeat(deep)}1${nested[1]?.repeat(deep)}`);
}

interface Place {
  holder: Json[] | { [key: string]: Json };
  key: string | number;
}

function collect(value: Json, places: Place[]): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const [key, item] of value.entries()) {
      places.push({ holder: value, key });
      collect(item, places);
    }
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    places.push({ holder: value, key });
    collect(item, places);
  }
}

function change({ holder, key }: Place, random: FuzzRandom, words: readonly string[]): void {
  const how = random.below(10);
  if (Array.isArray(holder)) {
    const at = Number(key);
    if (how < 2) holder.splice(at, 1);
    else if (how < 4) holder.splice(at, 0, structuredClone(holder[at] ?? null));
    else holder[at] = odd(random, words);
    return;
  }
  if (how < 2) delete holder[key];
  else if (how < 3) holder[random.pick(words)] = holder[key] ?? null;
  else holder[key] = odd(random, words);
}

function odd(random: FuzzRandom, words: readonly string[]): Json {
  switch (random.below(9)) {
    case 0:
      return null;
    case 1:
      return random.chance(0.5);
    case 2:
      return random.pick([0, -1, 1, 0.5, -0, 1e21, 2 ** 31, 2 ** 53, 1e308, -1e308]);
    case 3:
      return [];
    case 4:
      return {};
    case 5:
      return random.pick(words).repeat(2 ** random.below(10));
    case 6:
      return random.chance(0.2) ? '\0deep' : '\ud800';
    case 7:
      return [random.pick(words), random.pick(words)];
    default:
      return random.pick(words);
  }
}

function deepestOf(text: string): number {
  let [depth, deepest] = [0, 0];
  for (const character of text) {
    if (character === '[' || character === '{') deepest = Math.max(deepest, ++depth);
    else if (character === ']' || character === '}') depth -= 1;
  }
  return deepest;
}
