import { UserError } from '../../lib/errors.ts';
import { type EarlierMessages, type TextRef, TraceEvent, type TraceEventOf } from '../../schema/index.ts';
import { Conversations, openTraceBytes, parseStoredText, type TraceBytes } from '../../store/index.ts';
import type { TraceTable } from '../trace/trace-table.ts';

type Call = TraceEventOf<'model_call'>;

/**
 * All messages of a call, including those of earlier calls that it refers to.
 * @throws UserError `broken_file`
 */
export async function messagesOf(path: string, { calls }: TraceTable, call: Call): Promise<TextRef[]> {
  using trace = openTraceBytes(path);
  const found = new Map([[call.call, call]]);
  for (const { messages } of found.values()) {
    for (const message of messages) {
      const at = 'call' in message && !found.has(message.call) ? calls[message.call - 1] : undefined;
      const earlier = at === undefined || trace === null ? null : await callAt(trace, at);
      if (earlier !== null) found.set(earlier.call, earlier);
    }
  }
  const conversations = new Conversations();
  let conversation: Iterable<TextRef> = [];
  for (const one of [...found.values()].sort((a, b) => a.call - b.call)) {
    const messages = conversations.of(one);
    if (one === call) conversation = messages;
  }
  return [...conversation];
}

/**
 * The messages that are new in a call, and where the others are: with all messages of each call, an export would grow
 * with the square of the steps.
 * @throws UserError `broken_file`
 */
export function newMessagesOf(table: TraceTable, { call, messages }: Call): (TextRef | EarlierMessages)[] {
  return messages.map((message) => {
    if (!('call' in message)) return message;
    const at = message.call < call ? table.calls[message.call - 1] : undefined;
    if (at === undefined)
      throw new UserError(
        'broken_file',
        `model call ${call} refers to call ${message.call}, which the trace does not contain`,
        'Restore the trace from a backup, or delete the run and start it again.',
      );
    return { ...message, step: stepAt(table, at.offset) };
  });
}

/** The step to which a line belongs. */
function stepAt({ steps, columns }: TraceTable, offset: number): number {
  return columns.end.subarray(0, steps).findLastIndex((end) => end <= offset) + 2;
}

async function callAt(
  trace: TraceBytes,
  { offset, bytes }: TraceTable['calls'][number],
): Promise<Call | null> {
  const line = await trace.read(offset, offset + bytes);
  const event = parseStoredText(TraceEvent, line.toString('utf8'), 'an earlier model call');
  return event.kind === 'model_call' ? event : null;
}
