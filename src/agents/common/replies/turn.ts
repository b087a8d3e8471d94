import { actionLabel, inputLabel, type Label, observationLabel } from './labels.ts';
import { matchActionName, plainName } from './names.ts';

/** Where in a reply an action and its input stand. */
export interface Turn {
  start: number;
  /** What stands after the action's label. */
  nameText: string;
  /** Where the input begins and the next label ends it; null where there is none. */
  input: { start: number; sectionEnd: number } | null;
}

/**
 * The first action that comes with an input. One without is passed over, for plans are full of lines such as
 * "Action: look at the data"; but not for one behind an observation, which the model imagined.
 */
export function firstTurn(text: string, labels: readonly Label[], known: readonly string[]): Turn | null {
  // Only these say where a name ends: a format's "Reflection" is an action's name too.
  const borders = labels.filter(({ name }) => [actionLabel, inputLabel, observationLabel].includes(name));
  let withoutInput: { turn: Turn; isNamed: boolean } | null = null;
  for (const [index, label] of borders.entries()) {
    if (label.name === observationLabel && withoutInput !== null) break;
    if (label.name !== actionLabel) continue;
    const turn = turnAt(text, label, { before: borders[index - 1], next: borders[index + 1] }, known);
    if (turn.input !== null) return withSectionEnd(turn, labels);
    // Of several without an input, one that names an action tells more.
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
  // The input follows the name without a label of its own.
  const brace = /^[^{]{0,200}(?=\{)/.exec(nameText)?.[0];
  if (brace !== undefined && matchActionName(brace, known) !== null) {
    return { start, nameText: brace, input: { start: end + brace.length, sectionEnd: text.length } };
  }
  if (before?.name === inputLabel) {
    return { start: before.start, nameText, input: { start: before.end, sectionEnd: start } };
  }
  return { start, nameText, input: null };
}

/** An input goes to the next label, whichever it is. */
function withSectionEnd(turn: Turn, labels: readonly Label[]): Turn {
  if (turn.input === null) return turn;
  const { start, sectionEnd } = turn.input;
  const next = labels.find((label) => label.start >= start);
  return { ...turn, input: { start, sectionEnd: Math.min(next?.start ?? sectionEnd, sectionEnd) } };
}

/** "Final Answer: {…}": the name of an action in the place of a label, with an object right behind it. */
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
