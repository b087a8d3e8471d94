import type { Action } from '../../src/schema/index.ts';
import type { TakenTurn } from './recorded-guide.ts';
import {
  isLogEntry,
  logAction,
  type RecordedAction,
  type RecordedTurn,
  recallAction,
} from './recorded-run.ts';

/**
 * Why a step is not the recorded one.
 * - `numbers_as_texts`: the original kept a number of the reply as a text
 * - `escapes_kept`: the original kept, or doubled, the backslashes by which JSON writes special characters
 * - `arguments_merged`: the original took a second argument, which the action does not have, for a part of the first
 * - `fence_kept`: the original kept white space, or the code fence after the input, in the last argument
 * - `unread_by_original`: the original could not read the arguments, and did nothing in that turn
 * - `rejected_by_original`: the original rejected a reply that we act on, so the turn is another one
 * - `unread_by_us`: we did nothing in a turn in which the original acted
 * - `no_summary`: the fast model gave no summary that could be used; we write another text in its place
 * - `step_number`: a log entry has another number, or the log is asked at another step, because a turn before it
 *   counted there and not here
 * - `after_the_end`: the original continued after its run had ended
 * - `recording_ends`: the original was killed before the current step was recorded
 * - `garbled`: the published log of the call has another text than the trace
 * - `other_action`, `other_arguments`: anything else
 */
export type DifferenceReason =
  | 'numbers_as_texts'
  | 'escapes_kept'
  | 'arguments_merged'
  | 'fence_kept'
  | 'unread_by_original'
  | 'rejected_by_original'
  | 'unread_by_us'
  | 'no_summary'
  | 'step_number'
  | 'after_the_end'
  | 'recording_ends'
  | 'garbled'
  | 'other_action'
  | 'other_arguments';

export interface Difference {
  reason: DifferenceReason;
  /** From 0. */
  turn: number;
  place: 'recall' | 'action' | 'log';
  recorded: Action | null;
  ours: Action | null;
}

export interface Comparison {
  /** Steps of either side, matched with each other. */
  steps: number;
  /** Of these, the actions that the model chose: all except those that the agent takes for its log. */
  actions: number;
  differences: Difference[];
}

/** Compares turn by turn: the lookup in the log, the action, the entry in the log. */
export function compareTurns(recorded: readonly RecordedTurn[], ours: readonly TakenTurn[]): Comparison {
  const comparison: Comparison = { steps: 0, actions: 0, differences: [] };
  for (let turn = 0; turn < Math.max(recorded.length, ours.length); turn += 1) {
    const theirs = recorded[turn] ?? { replies: [], steps: [], observationSummaries: [], stepSummaries: [] };
    const taken = ours[turn] ?? { steps: [], replies: 0 };
    const places = [
      ['recall', stepsOf(theirs).recall, ourStepsOf(taken).recall],
      ['action', stepsOf(theirs).action, ourStepsOf(taken).action],
      ['log', stepsOf(theirs).log, ourStepsOf(taken).log],
    ] as const;
    for (const [place, original, mine] of places) {
      if (original === undefined && mine === undefined) continue;
      comparison.steps += 1;
      if (place === 'action') comparison.actions += 1;
      const reason = differenceOf(original, mine, theirs, taken);
      if (reason === null) continue;
      comparison.differences.push({
        reason,
        turn,
        place,
        recorded: original?.action ?? null,
        ours: mine ?? null,
      });
    }
  }
  return comparison;
}

function stepsOf({ steps }: RecordedTurn) {
  const log = steps.find(isLogEntry);
  const recall = steps[0]?.action.name === recallAction ? steps[0] : undefined;
  const action = steps.find((step) => step !== log && step !== recall);
  return { log, recall, action };
}

function ourStepsOf({ steps }: TakenTurn) {
  const last = steps.at(-1);
  const log =
    last?.name === logAction && /^\n\nStep \d+:\n/.test(String(last.args.content)) ? last : undefined;
  const recall = steps[0]?.name === recallAction ? steps[0] : undefined;
  const action = steps.find((step) => step !== log && step !== recall);
  return { log, recall, action };
}

function differenceOf(
  recorded: RecordedAction | undefined,
  ours: Action | undefined,
  theirs: RecordedTurn,
  taken: TakenTurn,
): DifferenceReason | null {
  const rejected = taken.replies > 0 && taken.replies < theirs.replies.length;
  if (recorded === undefined) {
    if (theirs.steps.every(({ action }) => action.name === recallAction)) return 'recording_ends';
    if (ours?.name === recallAction) return 'step_number';
    return rejected || ours?.name === logAction ? 'rejected_by_original' : 'unread_by_original';
  }
  if (ours === undefined) {
    const hasEnded = taken.steps.length === 0 || taken.steps.some(({ name }) => name === 'Final Answer');
    if (recorded.action.name === recallAction && taken.replies > 0) return 'step_number';
    if (hasEnded && taken.replies === 0) return 'after_the_end';
    if (/^The environment has shut down/.test(recorded.observation)) return 'after_the_end';
    return 'unread_by_us';
  }
  if (recorded.action.name !== ours.name) return rejected ? 'rejected_by_original' : 'other_action';
  const reason = argumentDifference(recorded.action, ours);
  return reason !== null && rejected ? 'rejected_by_original' : reason;
}

function argumentDifference(recorded: Action, ours: Action): DifferenceReason | null {
  const [theirs, mine] = [comparable(recorded.args), comparable(ours.args)];
  if (theirs === mine) return null;
  if (ours.name === logAction) return logDifference(String(recorded.args.content), String(ours.args.content));
  const ways: [DifferenceReason, (value: string) => string][] = [
    ['numbers_as_texts', (value) => value],
    ['fence_kept', unfenced],
    ['escapes_kept', (value) => unescaped(unfenced(value))],
    ['arguments_merged', (value) => value.replace(/",\s*"\w+": "[\s\S]*$/, '')],
  ];
  for (const [reason, simplify] of ways) {
    const simple = (args: Action['args']) => comparable(simplified(args, simplify));
    if (simple(recorded.args) === simple(ours.args)) return reason;
  }
  return 'other_arguments';
}

function logDifference(recorded: string, ours: string): DifferenceReason {
  const body = (content: string) => content.replace(/^\n\nStep \d+:\n/, '');
  if (body(recorded) === body(ours)) return 'step_number';
  return body(recorded) === 'Too long to summarize.\n' ? 'no_summary' : 'garbled';
}

function comparable(args: Action['args']): string {
  return JSON.stringify(Object.entries(args).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function simplified(args: Action['args'], simplify: (value: string) => string): Action['args'] {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return [name, simplify(text)];
    }),
  );
}

function unfenced(text: string): string {
  return text.replace(/[\s`}"]+$/, '').trim();
}

function unescaped(text: string): string {
  return text
    .replaceAll('\r', '')
    .replaceAll(/\\+/g, '\\')
    .replaceAll('\\n', '\n')
    .replaceAll('\\t', '\t')
    .replaceAll(/\\(["'/])/g, '$1');
}
