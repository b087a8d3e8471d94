import { z } from 'zod';
import { parsedAs } from '../../lib/json-values.ts';
import {
  type EarlierMessages,
  ModelAnswer,
  ModelMessage,
  type ShownMessage,
  type StepCall,
  type TextRef,
  type ToolCall,
  type TraceEventOf,
} from '../../schema/index.ts';
import type { ShownTexts } from './shown-texts.ts';

const ToolNames = z.array(z.object({ name: z.string() }));

/**
 * @param messages see `messagesOf` and `newMessagesOf`
 * @param part prefix of the names of this call's texts, such as `call.0`
 */
export function shownCall(
  texts: ShownTexts,
  call: TraceEventOf<'model_call'>,
  messages: readonly (TextRef | EarlierMessages)[],
  part: string,
): StepCall {
  const { role, purpose, model, answered_by, temperature, max_output_tokens, time } = call;
  const { failure, usage, cost, latency_ms, waiting_ms, attempts } = call;
  return {
    ...{ call: call.call, role, purpose, model, answered_by, temperature, max_output_tokens, time },
    messages: messages.map((message, index) =>
      'call' in message ? message : shownMessage(texts, message, `${part}.message.${index}`),
    ),
    tools: call.tools === null ? [] : toolNames(texts, call.tools),
    answer: call.answer === null ? null : shownAnswer(texts, call.answer, `${part}.answer`),
    ...{ failure, usage, cost, latency_ms, waiting_ms, attempts },
  };
}

function shownMessage(texts: ShownTexts, ref: TextRef, part: string): ShownMessage {
  const read = texts.read(ref);
  if ('unreadable' in read)
    return { role: 'user', name: null, text: texts.unreadable(read.unreadable), tool_calls: [] };
  const message = parsedAs(ModelMessage, read.text);
  if (message === null)
    return { role: 'user', name: null, text: texts.text(part, read.text, 'short'), tool_calls: [] };
  return {
    role: message.role,
    name: message.role === 'tool' ? message.name : null,
    text: texts.text(part, message.text, 'short'),
    tool_calls: message.role === 'assistant' ? toolCalls(texts, message.tool_calls ?? [], part) : [],
  };
}

function shownAnswer(texts: ShownTexts, ref: TextRef, part: string): StepCall['answer'] {
  const read = texts.read(ref);
  const nothing = { tool_calls: [], finish: null };
  if ('unreadable' in read) return { kind: 'answered', text: texts.unreadable(read.unreadable), ...nothing };
  const answer = parsedAs(ModelAnswer, read.text);
  if (answer === null) return { kind: 'answered', text: texts.text(part, read.text, 'middle'), ...nothing };
  if (answer.kind !== 'answered')
    return { kind: answer.kind, text: texts.text(part, answer.message, 'middle'), ...nothing };
  return {
    kind: 'answered',
    text: texts.text(part, answer.text, 'middle'),
    tool_calls: toolCalls(texts, answer.tool_calls, part),
    finish: answer.finish,
  };
}

function toolCalls(texts: ShownTexts, calls: readonly ToolCall[], part: string) {
  return calls.map(({ name, input }, index) => {
    const text = typeof input === 'string' ? input : JSON.stringify(input, null, 2);
    return { name, input: texts.text(`${part}.tool.${index}`, text, 'middle') };
  });
}

function toolNames(texts: ShownTexts, ref: TextRef): string[] {
  const read = texts.read(ref);
  return 'text' in read ? (parsedAs(ToolNames, read.text) ?? []).map(({ name }) => name) : [];
}
