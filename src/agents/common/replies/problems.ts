import type { InputReading } from './input.ts';
import type { KnownAction } from './known-action.ts';
import { actionLabel, inputLabel, type ReplyFormat } from './labels.ts';

/**
 * Why a reply gives no action.
 * - `no_action`: no label "Action" (or anything in its place)
 * - `unknown_action`: none of the known ones, or more than one matches
 * - `no_input`, `unreadable_input`: nothing after "Action Input", or nothing like an object
 * - `cut_off`: the reply ends inside the input, before all arguments are there
 * - `missing_argument`: the input is complete but lacks one
 */
export type ReplyProblem =
  | 'empty'
  | 'no_action'
  | 'unknown_action'
  | 'no_input'
  | 'unreadable_input'
  | 'cut_off'
  | 'missing_argument';

export interface ReplyFailure {
  reason: ReplyProblem;
  /** For the model: what to fix. */
  message: string;
}

export function noAction(format: ReplyFormat): ReplyFailure {
  const labels = [...format.entries, actionLabel, inputLabel].map((label) => `"${label}:"`).join(', ');
  return {
    reason: 'no_action',
    message: `Your reply names no action. Write all of these, each at the start of a line: ${labels}.`,
  };
}

export function unknownAction(nameText: string, actions: readonly KnownAction[]): ReplyFailure {
  const written = nameText.trim().split('\n')[0] ?? '';
  const message =
    written === ''
      ? 'There is no name after "Action:".'
      : `"${shortened(written)}" is not the name of one of the actions.`;
  const names = actions.map(({ name }) => name).join(', ');
  return { reason: 'unknown_action', message: `${message} The actions are: ${names}.` };
}

export function badInput(
  action: KnownAction,
  { reason, missing }: Omit<Extract<InputReading, { ok: false }>, 'ok'>,
): ReplyFailure {
  const names = missing.map((name) => `"${name}"`).join(', ');
  const problem = {
    no_input: `There is no "${inputLabel}:" with the arguments of ${action.name}.`,
    unreadable_input: `The input of ${action.name} can not be read as a JSON object.`,
    cut_off: `Your reply ends in the middle of the input, before ${names} was complete. Write less, or in smaller steps.`,
    missing_argument: `The input of ${action.name} lacks ${names}.`,
  }[reason];
  const example = action.arguments.map(({ name, description }) => `"${name}": <${description}>`).join(', ');
  return { reason, message: `${problem} Write it like this: {${example}}` };
}

function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
