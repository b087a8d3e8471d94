import { linesOf } from './text-file.ts';

/** Placeholders are short; in a long line, the patterns would take quadratic time. */
const longestPlaceholder = 500;

const placeholders = [
  // "# ... rest of the code", "# … (unchanged)"
  /^(#|\/\/|<!--)?\s*[[(<]?\s*(\.{3}|…).*\b(rest|remain|remaining|remains|unchanged|same|existing|previous|before|above|omitted)\b/i,
  // "# rest of the code ...", "# remaining code unchanged"
  /^(#|\/\/)\s*\(?(the )?(rest|remainder|remaining|existing|previous|original)\b.*\b(code|script|file)\b.*(\.{3}|…|\b(unchanged|same|omitted|goes here|stays|remains)\b)/i,
];

/**
 * A new line that replaces earlier lines by a placeholder ("# ... rest of the code unchanged"): such a text parses but
 * has lost those lines. Null if there is none, or if no line was lost.
 */
export function omissionIn(before: string, after: string): string | null {
  const old = new Set(filledLines(before));
  const lines = filledLines(after);
  const fresh = new Set(lines);
  if ([...old].every((line) => fresh.has(line))) return null;
  const found = lines.find(
    (line) =>
      !old.has(line) &&
      placeholders.some((placeholder) => placeholder.test(line.slice(0, longestPlaceholder))),
  );
  return found === undefined ? null : found.slice(0, 200);
}

function filledLines(text: string): string[] {
  return linesOf(text)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
