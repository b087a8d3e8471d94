import { type ProviderAdapter, ProviderCut, ProviderError } from '../../../src/models/provider-adapter.ts';
import { createProviderAdapter } from '../../../src/models/providers/index.ts';
import { ModelAnswer, TokenUsage } from '../../../src/schema/index.ts';
import { anthropic } from '../../fakes/providers/anthropic.ts';
import { chatCompletions } from '../../fakes/providers/chat-completions.ts';
import { google } from '../../fakes/providers/google.ts';
import { type FormatName, fakeKeys, fakeWires } from '../../fakes/providers/index.ts';
import { completeReply, type Format } from '../../fakes/providers/reply.ts';
import { responses } from '../../fakes/providers/responses.ts';
import { defineTarget, type FuzzTarget } from '../engine/target.ts';
import { hold } from './containers.ts';

const formats: Record<FormatName, Format> = {
  anthropic,
  responses,
  chat: chatCompletions('/openai/v1/chat/completions', { hasRefusals: true }),
  google,
  compatible: chatCompletions('/compatible/v1/chat/completions', { hasRefusals: false }),
};

const reply = completeReply(
  {
    ...{ text: 'Hello.', reasoning: 'Hm.', toolCalls: [{ name: 'Read_File', input: '{"a":1}' }] },
    usage: { input: 100, output: 10, cachedInput: 5 },
  },
  'test',
);
const request = {
  messages: [{ role: 'user' as const, text: 'Say hello.' }],
  tools: [{ name: 'Read_File', description: 'reads', input_schema: { type: 'object' } }],
  ...{ stop: ['Observation:'], temperature: 0.5, maxOutputTokens: 100 },
};

/** An input is a line with the status, the kind of reply and the header retry-after, and then the body. */
const words = [
  ...[
    '200 stream\n',
    '200 json\n',
    '429 json 5\n',
    '500 json\n',
    'data: ',
    '\n\n',
    'data: [DONE]\n\n',
    'event: error\n',
    ': ping\n\n',
    'id: 1\n',
  ],
  ...[
    '"type":',
    '"content":',
    '"usage":',
    '"delta":',
    '"index":',
    '"finish_reason":',
    '"error":',
    '"message":',
    '"arguments":',
    'null',
  ],
  ...[
    'content_block_delta',
    'content_block_start',
    'message_delta',
    'input_json_delta',
    'tool_use',
    'thinking_delta',
    'signature_delta',
  ],
  ...[
    'response.output_text.delta',
    'response.completed',
    'functionCall',
    'candidates',
    'tool_calls',
    'retryDelay',
    'try again in 1h2m3s',
  ],
];

function targetOf(name: FormatName): FuzzTarget {
  const format = formats[name];
  const wire = fakeWires.find((one) => one.format === name);
  if (wire === undefined) throw new Error(`there is no model of ${name}`);
  return defineTarget({
    name: `provider-${name}`,
    reads: `replies of language models in the format ${name}, streamed and whole`,
    seeds: [
      `200 stream\n${format.events(reply).join('')}`,
      `200 json\n${JSON.stringify(format.json(reply))}`,
      `429 json 5\n${JSON.stringify(format.error(429, 'Rate limit: try again in 1m2.5s'))}`,
      `200 stream\n${format.events(reply).slice(0, 2).join('')}${format.overloadEvent()}`,
    ],
    words,
    batch: 16,
    milliseconds: (bytes) => 1_500 + bytes / 10,
    async open() {
      // Only the network is left out: the input is what arrives.
      let arrives: Response = new Response();
      const { fetch } = globalThis;
      globalThis.fetch = async () => arrives;
      const variables = { ...fakeKeys, MLAB_OPENAI_COMPATIBLE_URL: 'http://localhost/v1' };
      const models = new Map<boolean, ProviderAdapter>();
      for (const stream of [true, false])
        models.set(stream, await createProviderAdapter(wire.model, { stream }, variables));
      return {
        async run(input) {
          const { response, isStream } = responseOf(input);
          arrives = response;
          const model = models.get(isStream);
          if (model === undefined) throw new Error('there is no model');
          try {
            const { answer, usage } = await model.call(request, new AbortController().signal);
            ModelAnswer.parse(answer);
            if (usage !== null) TokenUsage.parse(usage);
            hold(!JSON.stringify(answer).includes(wire.key), 'a key that a server repeats is in no answer');
          } catch (error) {
            if (!(error instanceof ProviderError || error instanceof ProviderCut)) throw error;
            hold(!error.message.includes(wire.key), 'a key that a server repeats is in no error');
            hold(error.message.length < 5_000, 'an error is told in a few words');
            if (error instanceof ProviderError && error.retryAfterMs !== null)
              hold(
                Number.isFinite(error.retryAfterMs) && error.retryAfterMs >= 0,
                'a wait is so many milliseconds',
              );
            if (error.usage !== null) TokenUsage.parse(error.usage);
          }
        },
        close() {
          globalThis.fetch = fetch;
        },
      };
    },
  });
}

function responseOf(input: Buffer): { response: Response; isStream: boolean } {
  const end = Math.max(0, input.indexOf('\n'));
  const [status = '', kind = '', retryAfter = ''] = input.toString('latin1', 0, end).split(' ');
  const isStream = kind !== 'json';
  const headers = new Headers({ 'content-type': isStream ? 'text/event-stream' : 'application/json' });
  try {
    if (retryAfter !== '') headers.set('retry-after', retryAfter);
  } catch {
    // Not a valid header value.
  }
  const number = Number(status);
  const valid =
    Number.isInteger(number) && number >= 200 && number < 600 && ![204, 205, 304].includes(number);
  const body = new Uint8Array(input.subarray(end + 1));
  return { response: new Response(body, { status: valid ? number : 200, headers }), isStream };
}

export const providerTargets = (Object.keys(formats) as FormatName[]).map(targetOf);
