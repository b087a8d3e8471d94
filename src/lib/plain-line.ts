import { stripVTControlCharacters } from 'node:util';

/** Any text as one line of at most `most` characters, without control characters and split surrogate pairs. */
export function plainLine(text: string, most: number): string {
  const line = stripVTControlCharacters(text)
    .toWellFormed()
    .replaceAll(/[\s\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]+/g, ' ')
    .trim();
  return line.length <= most ? line : `${line.slice(0, most - 1).toWellFormed()}…`;
}
