import { isDeepStrictEqual } from 'node:util';
import { isJsonObject } from '../../lib/json-values.ts';
import type { Action, ModelAnswer, ModelRequest, ToolCall } from '../../schema/index.ts';

type Answered = Extract<ModelAnswer, { kind: 'answered' }>;

/** An answer of a program's model, and what the program did with it, as far as it was seen. */
export interface FinishedTurn {
  action: Action;
  observation: string;
  /** What the model wrote besides its tool calls. */
  thought: string | null;
  began: number;
}

interface OpenTurn {
  answer: Answered;
  began: number;
  /** No request need contain a result of it: it has no calls, or one that the request asked for as its answer. */
  isWhole: boolean;
}

/**
 * The most concurrent conversations, more than any program has. Older open turns are not waited for, or else steps
 * would have no limit.
 */
const maxOpen = 16;

const noResult = '(No result of it was sent to the model.)';

/**
 * Makes turns from a program's requests and the answers to them. A turn begins with an answer, and ends with the
 * request that contains its result. If a program has several conversations at once, the call in each result identifies
 * its turn.
 */
export class Turns {
  #open: OpenTurn[] = [];

  /**
   * Adds an answer that the program received.
   * @param began when that was, as `performance.now()` says
   * @param isForced the request named the tool to call
   */
  answered(answer: ModelAnswer, began: number, isForced = false): void {
    if (answer.kind !== 'answered') return;
    this.#open.push({ answer, began, isWhole: isForced || answer.tool_calls.length === 0 });
  }

  /**
   * The turns that this request ends. If all others, which are still open, use up the steps, they end, too.
   * @param isSide a request that is not a turn itself
   * @param stepsLeft how many turns can still be recorded
   */
  endedBy({ messages }: ModelRequest, isSide: boolean, stepsLeft = Number.POSITIVE_INFINITY): FinishedTurn[] {
    const byId = resultsIn(messages);
    const last = lastCalls(messages);
    const seen = this.#open.map((turn, index) => {
      const calls = turn.answer.tool_calls;
      const results = calls.some(({ id }) => byId.has(id)) ? byId : resultsInOrder(calls, last);
      const isEnded = results.size > 0 || (turn.isWhole && !isSide);
      return { turn, results, isOver: isEnded || index < this.#open.length - maxOpen };
    });
    const isLast = !isSide && this.#open.length >= stepsLeft;
    for (const each of seen) each.isOver ||= isLast;
    this.#open = seen.flatMap(({ turn, isOver }) => (isOver ? [] : [turn]));
    return seen.flatMap(({ turn, results, isOver }) => (isOver ? [finished(turn, results)] : []));
  }

  /** The turns that no request has ended, for when the program sends no more requests. */
  rest(): FinishedTurn[] {
    const open = this.#open;
    this.#open = [];
    return open.map((turn) => finished(turn, new Map()));
  }
}

function resultsIn(messages: ModelRequest['messages']): Map<string, string> {
  return new Map(
    messages.flatMap((message) =>
      message.role === 'tool' ? [[message.call_id, message.text] as const] : [],
    ),
  );
}

/** The last calls in a conversation, and the texts of their results. */
function lastCalls(messages: ModelRequest['messages']): { calls: readonly ToolCall[]; results: string[] } {
  const at = messages.findLastIndex(({ role }) => role === 'assistant');
  const last = messages[at];
  return {
    calls: last?.role === 'assistant' ? (last.tool_calls ?? []) : [],
    results: messages.slice(at + 1).flatMap((message) => (message.role === 'tool' ? [message.text] : [])),
  };
}

/**
 * By the calls' ids. Google may give calls none: then the gateway names them by their places, and programs invent ids of
 * their own.
 */
function resultsInOrder(
  calls: readonly ToolCall[],
  last: ReturnType<typeof lastCalls>,
): ReadonlyMap<string, string> {
  const withoutIds = (all: readonly ToolCall[]) => all.map(({ name, input }) => ({ name, input }));
  const isNamedByPlace = calls.every(({ id, name }, place) => id === `${name}_${place}`);
  if (!isNamedByPlace || !isDeepStrictEqual(withoutIds(calls), withoutIds(last.calls))) return new Map();
  return new Map(
    last.results.flatMap((text, place) => {
      const call = calls[place];
      return call === undefined ? [] : [[call.id, text] as const];
    }),
  );
}

function finished({ answer, began }: OpenTurn, results: ReadonlyMap<string, string>): FinishedTurn {
  const { text, tool_calls: calls } = answer;
  const [first, ...others] = calls;
  if (first === undefined)
    return { action: { name: 'Reply', args: { text } }, observation: '', thought: null, began };
  const thought = text.trim() === '' ? null : text;
  const resultOf = ({ id }: ToolCall) => results.get(id) ?? noResult;
  if (others.length === 0)
    return {
      action: { name: first.name, args: argumentsOf(first) },
      observation: resultOf(first),
      thought,
      began,
    };
  const names = [...new Set(calls.map(({ name }) => name))];
  return {
    action: { name: names.join(' + '), args: { calls: calls.map(({ name, input }) => ({ name, input })) } },
    observation: calls.map((call) => `[${call.name}]\n${resultOf(call)}`).join('\n\n'),
    thought,
    began,
  };
}

function argumentsOf({ input }: ToolCall): Action['args'] {
  return isJsonObject(input) ? input : { input };
}
