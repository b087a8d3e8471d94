import { actionLabel, inputLabel, type Label, observationLabel } from './labels.ts';
import { matchActionName, plainName } from './names.ts';

/** The positions of an action and its input in a reply. */
export interface Turn {
  start: number;
  /** The text after the action's label. */
  nameText: string;
  /** The start of the input, and the end given by the next label; null if there is no input. */
  input: { start: number; sectionEnd: number } | null;
}

/**
 * The first action that comes with an input. One without an input is skipped, because plans are full of lines such as
 * "Action: look at the data". But it is not skipped for an action after an observation, which the model imagined.
 */
export function firstTurn(text: string, labels: readonly Label[], known: readonly string[]): Turn | null {
  // Only these end a name: a format's "Reflection" is also the name of an action.
  const borders = labels.filter(({ name }) => [actionLabel, inputLabel, observationLabel].includes(name));
  let withoutInput: { turn: Turn; isNamed: boolean } | null = null;
  for (const [index, label] of borders.entries()) {
    if (label.name === observationLabel && withoutInput !== null) break;
    if (label.name !== actionLabel) continue;
    const turn = turnAt(text, label, { before: borders[index - 1], next: borders[index + 1] }, known);
    if (turn.input !== null) return withSectionEnd(turn, labels);
    // Of several actions without an input, one that names a known action is more informative.
    if (withoutInput?.isNamed) continue;
    const isNamed = matchActionName(turn.nameText, known) !== null;
    if (withoutInput === null || isNamed) withoutInput = { turn, isNamed };
  }
  return withoutInput?.turn ?? null;
}

function turnAt(
  text: string,
  { start, end }: Label,
  { before, next }: { before: Label | undefined; next: Label | undefined },
  known: readonly string[],
): Turn {
  const nameText = text.slice(end, next?.start);
  if (next?.name === inputLabel) {
    return { start, nameText, input: { start: next.end, sectionEnd: text.length } };
  }
  // The input follows the name without its own label.
  const brace = /^[^{]{0,200}(?=\{)/.exec(nameText)?.[0];
  if (brace !== undefined && matchActionName(brace, known) !== null) {
    return { start, nameText: brace, input: { start: end + brace.length, sectionEnd: text.length } };
  }
  if (before?.name === inputLabel) {
    return { start: before.start, nameText, input: { start: before.end, sectionEnd: start } };
  }
  return { start, nameText, input: null };
}

/** An input ends at the next label, whichever that is. */
function withSectionEnd(turn: Turn, labels: readonly Label[]): Turn {
  if (turn.input === null) return turn;
  const { start, sectionEnd } = turn.input;
  const next = labels.find((label) => label.start >= start);
  return { ...turn, input: { start, sectionEnd: Math.min(next?.start ?? sectionEnd, sectionEnd) } };
}

/** "Final Answer: {…}": the name of an action in place of a label, directly followed by an object. */
export function bareNameTurn(text: string, known: readonly string[]): Turn | null {
  const line =
    /^[ \t>*_#`"'[-]{0,16}(\p{L}[\p{L} _-]{2,60}(?:\([\p{L} ]{1,20}\))?)[*_`"'\]]{0,4}[ \t]{0,8}:?[*\s]{0,16}(?:```\w{0,12}\s{0,8})?(?=\{)/gmu;
  for (const match of text.matchAll(line)) {
    const written = match[1] ?? '';
    if (!known.some((name) => plainName(name) === plainName(written))) continue;
    const start = match.index + match[0].length;
    return { start: match.index, nameText: written, input: { start, sectionEnd: text.length } };
  }
  return null;
}
