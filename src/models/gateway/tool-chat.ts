import { z } from 'zod';
import { parseShallowJson } from '../../lib/shallow-json.ts';
import { type ModelAnswer, type ModelMessage, type ModelRequest, toolPurpose } from '../../schema/index.ts';
import type { AnsweredCall } from './caller.ts';
import type { HttpAnswer } from './dialects/dialect.ts';

/** A text, or a list of text parts. */
const Content = z.union([
  z.string(),
  z
    .array(z.object({ type: z.literal('text'), text: z.string() }))
    .transform((parts) => parts.map(({ text }) => text).join('')),
]);

/**
 * The supported parts of a request in OpenAI's format. Settings such as the temperature are the run's, and are ignored
 * here.
 */
const ChatRequest = z.object({
  messages: z
    .array(
      z.object({
        role: z.enum(['system', 'developer', 'user', 'assistant']),
        content: Content,
      }),
    )
    .min(1)
    .max(1000),
  stop: z
    .union([z.string(), z.array(z.string()).max(4)])
    .nullish()
    .transform((stop) => (stop == null ? [] : [stop].flat())),
  stream: z.literal(false).nullish(),
  n: z.literal(1).nullish(),
  tools: z.array(z.never()).nullish(),
});

/** Reads a request in OpenAI's format without streams, tools and images, or returns what is wrong with it. */
export function readToolChat(body: string): ModelRequest | { problem: string } {
  let given: unknown;
  try {
    given = parseShallowJson(body);
  } catch {
    return { problem: 'the body is not JSON' };
  }
  const parsed = ChatRequest.safeParse(given);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      ({ path, message }) => `${path.join('.') || 'body'}: ${message}`,
    );
    return { problem: problems.slice(0, 3).join('; ') };
  }
  const { messages, stop } = parsed.data;
  return {
    role: 'fast',
    purpose: toolPurpose,
    messages: messages.map(({ role, content }): ModelMessage => {
      const isSystem = role === 'system' || role === 'developer';
      return { role: isSystem ? 'system' : role, text: content };
    }),
    ...(stop.length === 0 ? {} : { stop }),
  };
}

/** @param model the model's name for the process */
export function toolChatAnswer(model: string, { answer, usage }: AnsweredCall): HttpAnswer {
  if (answer.kind === 'context_too_long') {
    const message = 'The request has more tokens than the language model reads.';
    return { status: 400, body: toolChatError('context_length_exceeded', message) };
  }
  const { text, finish } = replyText(answer);
  const body = {
    id: 'chatcmpl-mlab',
    object: 'chat.completion',
    created: 0,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: finish }],
    usage: {
      prompt_tokens: usage.input,
      completion_tokens: usage.output,
      total_tokens: usage.input + usage.output,
    },
  };
  return { status: 200, body };
}

function replyText(answer: ModelAnswer): { text: string; finish: 'stop' | 'length' | 'content_filter' } {
  if (answer.kind !== 'answered') return { text: '', finish: 'content_filter' };
  return { text: answer.text, finish: answer.finish === 'length' ? 'length' : 'stop' };
}

export function toolChatError(code: string, message: string): object {
  return { error: { message, type: 'mlab_error', param: null, code } };
}
