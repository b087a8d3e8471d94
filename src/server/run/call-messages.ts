import { type TextRef, TraceEvent, type TraceEventOf } from '../../schema/index.ts';
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

async function callAt(
  trace: TraceBytes,
  { offset, bytes }: TraceTable['calls'][number],
): Promise<Call | null> {
  const line = await trace.read(offset, offset + bytes);
  const event = parseStoredText(TraceEvent, line.toString('utf8'), 'an earlier model call');
  return event.kind === 'model_call' ? event : null;
}
