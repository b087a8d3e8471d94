import { z } from 'zod';
import { type CompleteReply, dataEvent, type Format, pieces, withoutRefusal } from './reply.ts';

const Request = z.looseObject({ contents: z.array(z.unknown()) });

const finishReasons: Record<CompleteReply['finish'], string> = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  tool_calls: 'STOP',
  refused: 'SAFETY',
  context_full: 'MAX_TOKENS',
};
const states: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

/** generateContent and streamGenerateContent of Google's Generative Language API. */
export const google: Format = {
  read(path, body) {
    const match = /^\/google\/v1beta\/models\/([^:]+):(generateContent|streamGenerateContent\?alt=sse)$/.exec(
      path,
    );
    if (match === null) return null;
    Request.parse(body);
    return { model: match[1] ?? '', isStreaming: match[2] !== 'generateContent' };
  },
  json: (reply) =>
    chunk(
      reply,
      parts(reply, (text) => [text]),
      true,
    ),
  events(reply) {
    const all = parts(reply, pieces);
    const last = all.length - 1;
    const chunks = all.map((part, index) => chunk(reply, [part], index === last));
    return (chunks.length === 0 ? [chunk(reply, [], true)] : chunks).map(dataEvent);
  },
  error: (status, message) => ({ error: { code: status, message, status: states[status] ?? 'INTERNAL' } }),
  overloadEvent: () =>
    dataEvent({
      error: {
        code: 503,
        message: 'The model is overloaded. Please try again later.',
        status: 'UNAVAILABLE',
      },
    }),
};

function parts(given: CompleteReply, split: (text: string) => string[]): object[] {
  const reply = withoutRefusal(given);
  const thoughts =
    reply.reasoning === '' ? [] : split(reply.reasoning).map((text) => ({ text, thought: true }));
  const texts = reply.text === '' ? [] : split(reply.text).map((text) => ({ text }));
  const calls = reply.toolCalls.map(({ id, name, input }) => ({
    functionCall: { id, name, args: JSON.parse(input) },
    ...(reply.reasoning === '' ? {} : { thoughtSignature: 'c2lnbmVk' }),
  }));
  return [...thoughts, ...texts, ...calls];
}

function chunk(reply: CompleteReply, content: object[], isLast: boolean) {
  return {
    candidates: [
      {
        content: { role: 'model', parts: content },
        index: 0,
        ...(isLast ? { finishReason: finishReasons[reply.finish] } : {}),
      },
    ],
    ...(reply.usage === null ? {} : { usageMetadata: usage(reply.usage) }),
    modelVersion: reply.model,
    responseId: 'response-1',
  };
}

function usage({ input, output, cachedInput, reasoning }: NonNullable<CompleteReply['usage']>) {
  return {
    promptTokenCount: input,
    candidatesTokenCount: output - reasoning,
    totalTokenCount: input + output,
    ...(cachedInput > 0 ? { cachedContentTokenCount: cachedInput } : {}),
    ...(reasoning > 0 ? { thoughtsTokenCount: reasoning } : {}),
  };
}
