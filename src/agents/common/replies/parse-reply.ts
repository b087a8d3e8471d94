import { collectEntries } from './entries.ts';
import { type InputReading, readInput } from './input.ts';
import type { KnownAction } from './known-action.ts';
import { findLabels, type Label, type LabelStyle, type ReplyFormat } from './labels.ts';
import { matchActionName } from './names.ts';
import { badInput, noAction, type ReplyFailure, type ReplyProblem, unknownAction } from './problems.ts';
import { bareNameTurn, firstTurn, type Turn } from './turn.ts';

export type ParsedReply =
  | {
      ok: true;
      /** The text under each label of the format that the reply has, trimmed. */
      entries: Record<string, string>;
      action: string;
      args: Record<string, unknown>;
    }
  | {
      ok: false;
      reason: ReplyProblem;
      /** For the model: what to fix. */
      message: string;
      entries: Record<string, string>;
      /** The action that was asked for, if that much is clear. */
      action: string | null;
      /** The text in place of the action's name, as written; null if there is none. */
      written: string | null;
    };

/**
 * Reads the first action of a reply with its arguments, and the entries around it. It tolerates errors that leave no
 * doubt about what the model wants, and makes nothing up. Missing parts stay missing, a name that matches two actions
 * is no action, and an argument that is cut off by the end of the reply is not taken for a short one.
 */
export function parseReply(text: string, actions: readonly KnownAction[], format: ReplyFormat): ParsedReply {
  if (text.trim() === '') {
    return {
      ok: false,
      reason: 'empty',
      message: 'Your reply was empty.',
      entries: {},
      action: null,
      written: null,
    };
  }
  const readings = styles.map((style) => readInStyle(text, actions, format, style));
  const [asLines, ...others] = readings;
  if (asLines === undefined) throw new Error('there is no way to read a reply');
  // The first style that finds an action with an input decides, whatever is wrong with them.
  const decisive = readings.find(({ turn }) => turn !== null && turn.input !== null);
  const best = decisive ?? (asLines.turn === null ? others.find(({ turn }) => turn !== null) : asLines);
  return conclude(text, actions, format, best ?? asLines);
}

/** From the requested style to one that is hardly recognizable. */
const styles: readonly ReadingStyle[] = ['line', 'no_colon', 'inline', 'bare_name'];
type ReadingStyle = LabelStyle | 'bare_name';

interface Reading {
  labels: Label[];
  turn: Turn | null;
  action: KnownAction | null;
  /** Null if there is no input, or no action that it could belong to. */
  input: InputReading | null;
}

function readInStyle(
  text: string,
  actions: readonly KnownAction[],
  format: ReplyFormat,
  style: ReadingStyle,
): Reading {
  const known = actions.map(({ name }) => name);
  const labels = findLabels(text, format, style === 'bare_name' ? 'line' : style);
  const turn = style === 'bare_name' ? bareNameTurn(text, known) : firstTurn(text, labels, known);
  const name = turn === null ? null : matchActionName(turn.nameText, known);
  const action = actions.find((candidate) => candidate.name === name) ?? null;
  const input =
    turn === null || turn.input === null || action === null
      ? null
      : readInput(text.slice(turn.input.start), turn.input.sectionEnd - turn.input.start, action);
  return { labels, turn, action, input };
}

function conclude(
  text: string,
  actions: readonly KnownAction[],
  format: ReplyFormat,
  reading: Reading,
): ParsedReply {
  const { labels, turn, action, input } = reading;
  const start = turn?.start ?? text.length;
  const inputEnd = turn?.input && input?.ok ? turn.input.start + input.end : text.length;
  const entries = collectEntries(text, labels, format, { start, inputEnd });
  if (action !== null && input?.ok) return { ok: true, entries, action: action.name, args: input.args };
  const { reason, message } = problemOf(actions, format, reading);
  const written = turn?.nameText.trim().split('\n')[0]?.trim() ?? '';
  return {
    ok: false,
    reason,
    message,
    entries,
    action: action?.name ?? null,
    written: written === '' ? null : written,
  };
}

function problemOf(
  actions: readonly KnownAction[],
  format: ReplyFormat,
  { turn, action, input }: Reading,
): ReplyFailure {
  if (turn === null) return noAction(format);
  if (action === null) return unknownAction(turn.nameText, actions);
  if (input === null) return badInput(action, { reason: 'no_input', missing: [] });
  if (input.ok) throw new Error('an input that was read is no problem');
  return badInput(action, input);
}
