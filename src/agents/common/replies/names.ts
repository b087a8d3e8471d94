import { editDistance } from '../../../lib/nearest.ts';

/** A name without the parts that models vary: case, spaces, punctuation, Markdown, brackets. */
export function plainName(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

const fewestLetters = 4;
/** A name may be part of a sentence, but not after so many characters. */
const longestLine = 1_000;

/**
 * The one known action that a model's text names, or null: a text that matches two is not guessed at. `text` is what
 * follows the label: perhaps a name with punctuation, cut short, or followed by an explanation.
 */
export function matchActionName(text: string, known: readonly string[]): string | null {
  const line = firstLine(text);
  if (known.includes(line)) return line;
  return (
    only(known, (name) => plainName(name) === plainName(line)) ??
    only(known, (name) => plainName(stem(name)) === plainName(line)) ??
    longestAtStart(line, known) ??
    only(known, (name) => isMisspelled(line, name)) ??
    only(known, (name) => isCutOff(line, name)) ??
    only(known, (name) => isMentioned(line, name))
  );
}

/** The one of `candidates` that `name` means: the same letters, or one typing error away; otherwise null. */
export function matchArgumentName(name: string, candidates: readonly string[]): string | null {
  if (candidates.includes(name)) return name;
  if (name.length > longestLine) return null;
  return (
    only(candidates, (candidate) => plainName(candidate) === plainName(name)) ??
    only(candidates, (candidate) => isMisspelled(name, candidate))
  );
}

function firstLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.find((line) => /[\p{L}\p{N}]/u.test(line))?.slice(0, longestLine) ?? '';
}

/** `Edit Script (AI)` is often called `Edit Script`. */
function stem(name: string): string {
  return name.replace(/\s*\([^)]*\)\s*$/, '');
}

/** "List Files to see what is there": the name comes first and ends at the end of a word. */
function longestAtStart(line: string, known: readonly string[]): string | null {
  const words = line.replace(/^[^\p{L}\p{N}]+/u, '').toLowerCase();
  let best: { name: string; length: number } | null = null;
  for (const name of known) {
    for (const form of [name, stem(name)]) {
      const rest = words.startsWith(form.toLowerCase()) ? words.slice(form.length) : null;
      if (rest === null || /^[\p{L}\p{N}]/u.test(rest)) continue;
      if (best === null || form.length > best.length) best = { name, length: form.length };
    }
  }
  return best?.name ?? null;
}

function isMisspelled(written: string, name: string): boolean {
  const [a, b] = [plainName(written), plainName(name)];
  if (b.length <= fewestLetters || Math.abs(a.length - b.length) > 1) return false;
  return editDistance(a, b) === 1;
}

function isCutOff(written: string, name: string): boolean {
  const letters = plainName(written);
  return letters.length >= fewestLetters && plainName(name).startsWith(letters);
}

/** "I will use the Execute Script action": only names of several words, which do not occur by chance. */
function isMentioned(line: string, name: string): boolean {
  const at = line.indexOf(stem(name));
  return at >= 0 && stem(name).includes(' ') && !/^\p{L}/u.test(line.slice(at + stem(name).length));
}

function only(names: readonly string[], fits: (name: string) => boolean): string | null {
  const fitting = names.filter(fits);
  return fitting.length === 1 ? (fitting[0] ?? null) : null;
}
