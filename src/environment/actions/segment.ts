import { linesOf } from './text-file.ts';

/** A range of lines, numbered from 1, the last one included. */
export interface Segment {
  before: string[];
  lines: string[];
  after: string[];
}

export function segmentOf(text: string, first: number, last: number): Segment {
  const lines = linesOf(text);
  return { before: lines.slice(0, first - 1), lines: lines.slice(first - 1, last), after: lines.slice(last) };
}

/**
 * The lines that a model may have meant by `reply` as the replacement of `original`, the most likely first. Models lose
 * the indentation of the first line, or of all lines equally. The last reading is always the reply as it is.
 */
export function readings(original: readonly string[], reply: readonly string[]): string[][] {
  const literal = [...reply];
  const wanted = indentOf(original.find(isFilled) ?? '');
  const at = reply.findIndex(isFilled);
  const got = indentOf(reply[at] ?? '');
  if (at < 0 || !wanted.startsWith(got) || wanted === got) return [literal];
  const rest = reply.slice(at + 1).filter(isFilled);
  const found: string[][] = [];
  if (rest.every((line) => indentOf(line).startsWith(wanted))) {
    found.push(literal.map((line, index) => (index === at ? wanted + line.trimStart() : line)));
  }
  // If the original itself has less indented lines, the reply may be right as it is.
  const isWhole = original.filter(isFilled).every((line) => indentOf(line).startsWith(wanted));
  if (isWhole && rest.length > 0) {
    const lost = wanted.slice(got.length);
    found.push(literal.map((line) => (isFilled(line) ? lost + line : line)));
  }
  return [...found, literal];
}

function isFilled(line: string): boolean {
  return line.trim() !== '';
}

function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}
