import { nearest } from '../../lib/nearest.ts';
import { linesOf } from './text-file.ts';

const maxShownCharacters = 2_000;
/** The search for similar text takes time, during which nothing else runs. */
const maxSearchedCharacters = 500_000;
const maxCompared = 100;
const longestCompared = 120;

/** How often a text occurs, without overlaps, and the numbers of the first lines in which it begins, from 1. */
export function placesOf(text: string, wanted: string, maxLines: number): { count: number; lines: number[] } {
  const lines: number[] = [];
  let count = 0;
  let line = 1;
  let counted = 0;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
    count += 1;
    if (count > maxLines) continue;
    for (; counted < at; counted++) if (text.charCodeAt(counted) === 10) line += 1;
    lines.push(line);
  }
  return { count, lines };
}

/** Tells the agent the place most similar to a text that was not found; empty if there is none. */
export function nearMatch(text: string, wanted: string): string {
  const lines = linesOf(text.slice(0, maxSearchedCharacters));
  const sought = trimmedEnds(linesOf(wanted));
  if (sought.length === 0) return 'It contains only whitespace.';
  const first = bestPlace(lines.map(squeezed), sought.map(squeezed));
  if (first === null) return similarLine(lines, sought);
  const shown = shownLines(lines, first, sought.length);
  const at = sought.findIndex((line, index) => {
    const there = lines[first + index];
    return there === undefined || squeezed(there) !== squeezed(line);
  });
  if (at < 0) return `It stands there with other white space:\n${shown}`;
  const number = first + at + 1;
  const difference =
    number > lines.length
      ? 'the file ends there'
      : `line ${number} of the file is not line ${at + 1} of old_text, ${quoted(sought[at] ?? '')}`;
  return `The place most like it (${difference}):\n${shown}`;
}

/** The line, from 0, from which most of the sought lines follow in order; null if none does. */
function bestPlace(lines: string[], sought: string[]): number | null {
  const places = new Map<string, number[]>();
  for (const [index, line] of lines.entries()) {
    if (line === '') continue;
    const known = places.get(line);
    if (known === undefined) places.set(line, [index]);
    else if (known.length < maxCompared) known.push(index);
  }
  const votes = new Map<number, number>();
  for (const [offset, line] of sought.slice(0, maxCompared).entries()) {
    for (const index of places.get(line) ?? []) {
      if (index >= offset) votes.set(index - offset, (votes.get(index - offset) ?? 0) + 1);
    }
  }
  let best: { first: number; count: number } | null = null;
  for (const [first, count] of votes) {
    if (best === null || count > best.count) best = { first, count };
  }
  return best?.first ?? null;
}

function similarLine(lines: string[], sought: string[]): string {
  const [first = ''] = sought;
  const length = squeezed(first).length;
  const candidates = new Map<string, number>();
  for (const [index, line] of lines.entries()) {
    const text = squeezed(line);
    const isLikely = Math.abs(text.length - length) <= length / 3 && text.length <= longestCompared;
    if (isLikely && text !== '' && !candidates.has(text)) candidates.set(text, index);
    if (candidates.size >= maxCompared) break;
  }
  const found = nearest(squeezed(first), [...candidates.keys()]);
  const index = found === null ? undefined : candidates.get(found);
  if (index === undefined) return 'No line of the file resembles the first line of old_text.';
  return `The line most like the first one of old_text:\n${shownLines(lines, index, 1)}`;
}

/** Quotes lines, to show tabs and trailing spaces. */
function shownLines(lines: string[], first: number, count: number): string {
  const shown = lines
    .slice(first, first + count)
    .map((line, index) => `${first + index + 1}: ${quoted(line)}`)
    .join('\n');
  return shown.length > maxShownCharacters ? `${shown.slice(0, maxShownCharacters)}…` : shown;
}

function quoted(line: string): string {
  return JSON.stringify(line.length > 300 ? `${line.slice(0, 300)}…` : line);
}

/** Collapses white space, and trims it at the ends. */
function squeezed(line: string): string {
  return line.replace(/\s+/g, ' ').trim();
}

function trimmedEnds(lines: string[]): string[] {
  const first = lines.findIndex((line) => line.trim() !== '');
  const last = lines.findLastIndex((line) => line.trim() !== '');
  return first < 0 ? [] : lines.slice(first, last + 1);
}
