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
  let withoutInput: Turn | null = null;
  for (const [index, label] of labels.entries()) {
    if (label.name === observationLabel && withoutInput !== null) return withoutInput;
    if (label.name !== actionLabel) continue;
    const turn = turnAt(text, labels, index, known);
    if (turn.input !== null) return turn;
    // Of several without an input, one that names an action tells more.
    const names = (candidate: Turn) => matchActionName(candidate.nameText, known) !== null;
    if (withoutInput === null || (!names(withoutInput) && names(turn))) withoutInput = turn;
  }
  return withoutInput;
}

function turnAt(text: string, labels: readonly Label[], index: number, known: readonly string[]): Turn {
  const label = labels[index] ?? { start: 0, end: 0 };
  const later = labels.slice(index + 1);
  // A format's "Reflection" is an action's name too: only these three say where the name ends.
  const next = later.find(
    ({ name }) => name === inputLabel || name === actionLabel || name === observationLabel,
  );
  const nameText = text.slice(label.end, next?.start);
  const start = label.start;
  if (next?.name === inputLabel) {
    return { start, nameText, input: { start: next.end, sectionEnd: endOfSection(text, labels, next) } };
  }
  // The input follows the name without a label of its own.
  const brace = /^[^{]*?(?=\{)/.exec(nameText)?.[0];
  if (brace !== undefined && matchActionName(brace, known) !== null && brace.trim().split('\n').length <= 4) {
    const inputStart = label.end + brace.length;
    return { start, nameText: brace, input: { start: inputStart, sectionEnd: next?.start ?? text.length } };
  }
  const before = labels[index - 1];
  if (before?.name === inputLabel) {
    return { start: before.start, nameText, input: { start: before.end, sectionEnd: label.start } };
  }
  return { start, nameText, input: null };
}

function endOfSection(text: string, labels: readonly Label[], label: Label): number {
  return labels.find(({ start }) => start > label.start)?.start ?? text.length;
}

/** "Final Answer: {…}": the name of an action in the place of a label, with an object right behind it. */
export function bareNameTurn(text: string, known: readonly string[]): Turn | null {
  const line =
    /^[ \t>*_#`"'[-]*([\p{L}][\p{L} _-]*(?:\([\p{L} ]+\))?)[ \t*_`"'\]]*:?[*\s]*(?:```\w*\s*)?(?=\{)/gmu;
  for (const match of text.matchAll(line)) {
    const written = match[1] ?? '';
    if (!known.some((name) => plainName(name) === plainName(written))) continue;
    const start = match.index + match[0].length;
    return { start: match.index, nameText: written, input: { start, sectionEnd: text.length } };
  }
  return null;
}
