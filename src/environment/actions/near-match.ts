import { nearest } from '../../lib/nearest.ts';
import { linesOf } from './text-file.ts';

const mostShownCharacters = 2_000;
/** Comparing spellings takes time, and nothing else runs meanwhile. */
const mostCompared = 200;
const longestCompared = 200;

/** The numbers of the lines in which a text begins, from 1, without overlaps. */
export function linesAt(text: string, wanted: string): number[] {
  const found: number[] = [];
  let line = 1;
  let counted = 0;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
    for (; counted < at; counted++) if (text.charCodeAt(counted) === 10) line += 1;
    found.push(line);
  }
  return found;
}

/** Where a text that was not found almost stands, in a sentence for the agent; empty where nothing is like it. */
export function nearMatch(text: string, wanted: string): string {
  const lines = linesOf(text);
  const sought = trimmedEnds(linesOf(wanted));
  if (sought.length === 0) return 'It holds white space only.';
  const best = bestWindow(lines.map(squeezed), sought.map(squeezed));
  if (best === null) return similarLine(lines, sought);
  const shown = shownLines(lines, best.first, sought.length);
  if (best.matching === sought.length) return `It stands there with other white space:\n${shown}`;
  const at = sought.findIndex(
    (line, index) => squeezed(line) !== squeezed(lines[best.first + index] ?? '\n'),
  );
  const line = best.first + at + 1;
  const other =
    line > lines.length
      ? 'the file ends there'
      : `line ${line} of the file is not its line ${at + 1}, ${quoted(sought[at] ?? '')}`;
  return `The place most like it (${other}):\n${shown}`;
}

/** Where most of the lines stand in their order; null where none does. Blank lines alone don't count. */
function bestWindow(lines: string[], sought: string[]): { first: number; matching: number } | null {
  const votes = new Map<number, number>();
  const places = new Map<string, number[]>();
  for (const [index, line] of lines.entries()) {
    if (line === '') continue;
    const known = places.get(line);
    if (known === undefined) places.set(line, [index]);
    else if (known.length < mostCompared) known.push(index);
  }
  for (const [offset, line] of sought.slice(0, mostCompared).entries()) {
    for (const index of places.get(line) ?? []) {
      if (index >= offset) votes.set(index - offset, (votes.get(index - offset) ?? 0) + 1);
    }
  }
  const blank = sought.filter((line) => line === '').length;
  let best: { first: number; matching: number } | null = null;
  for (const [first, count] of votes) {
    if (best === null || count > best.matching) best = { first, matching: count };
  }
  return best === null ? null : { ...best, matching: best.matching + blank };
}

function similarLine(lines: string[], sought: string[]): string {
  const [first = ''] = sought;
  const length = squeezed(first).length;
  const candidates = new Map<string, number>();
  for (const [index, line] of lines.entries()) {
    const text = squeezed(line);
    const isLikely = Math.abs(text.length - length) <= length / 3 && text.length <= longestCompared;
    if (isLikely && text !== '' && !candidates.has(text)) candidates.set(text, index);
    if (candidates.size >= mostCompared) break;
  }
  const found = nearest(squeezed(first), [...candidates.keys()]);
  const index = found === null ? undefined : candidates.get(found);
  if (index === undefined) return 'No line of it is like the first one of old_text.';
  return `The line most like the first one of old_text:\n${shownLines(lines, index, 1)}`;
}

/** Quoted, so that tabs and blanks at a line's end can be seen. */
function shownLines(lines: string[], first: number, count: number): string {
  const shown = lines
    .slice(first, first + count)
    .map((line, index) => `${first + index + 1}: ${quoted(line)}`)
    .join('\n');
  return shown.length > mostShownCharacters ? `${shown.slice(0, mostShownCharacters)}…` : shown;
}

function quoted(line: string): string {
  return JSON.stringify(line.length > 300 ? `${line.slice(0, 300)}…` : line);
}

/** Any white space counts as one blank, and none at the ends. */
function squeezed(line: string): string {
  return line.replace(/\s+/g, ' ').trim();
}

function trimmedEnds(lines: string[]): string[] {
  const first = lines.findIndex((line) => line.trim() !== '');
  const last = lines.findLastIndex((line) => line.trim() !== '');
  return first < 0 ? [] : lines.slice(first, last + 1);
}
