import { z } from 'zod';
import { parseShallowJson } from '../../../lib/shallow-json.ts';
import type { ModelMessage } from '../../../schema/index.ts';
import { AnswerDraft } from './answer-draft.ts';
import { changesOf } from './changes.ts';
import type { AnswerReader, Dialect, PreparedCall, ReadRequest, RequestText, Target } from './dialect.ts';
import { countsOf, InputDetails, OutputDetails, openaiError, openaiModels } from './openai.ts';
import {
  Any,
  contentText,
  inputOf,
  isOneTool,
  List,
  OptionalNumber,
  OptionalText,
  readAs,
  Text,
  toolOf,
} from './reading.ts';

const path = '/chat/completions';

/** OpenAI's Chat Completions, which most other servers support, too. */
export const chatCompletions: Dialect = {
  name: 'chat_completions',
  route: (asked) =>
    asked === path ? { kind: 'generate', model: null, isStreaming: null, pathFor: () => path } : null,
  read,
  prepare,
  createReader,
  error: openaiError,
  keepAlive: ': waiting\n\n',
  models: openaiModels,
};

const Call = z.looseObject({
  id: Text,
  function: z.looseObject({ name: Text, arguments: Any }).nullish().catch(null),
});
const Message = z.looseObject({
  role: Text,
  content: Any,
  tool_calls: List,
  tool_call_id: OptionalText,
  name: OptionalText,
});
const Tool = z.looseObject({
  function: z.looseObject({ name: Text, description: Any, parameters: Any }),
});
const Request = z.looseObject({
  model: OptionalText,
  messages: List,
  tools: List,
  tool_choice: Any,
  stream: z.boolean().nullish().catch(null),
  stop: z
    .union([z.string(), z.array(z.string())])
    .nullish()
    .catch(null),
  temperature: OptionalNumber,
  max_tokens: Any,
  max_completion_tokens: Any,
  n_predict: Any,
  n: Any,
});

function read(body: unknown): ReadRequest {
  const asked = Request.parse(body);
  // The last one is llama.cpp's.
  const { max_tokens, max_completion_tokens, n_predict, n } = asked;
  return {
    model: asked.model ?? null,
    isStreaming: asked.stream === true,
    messages: (asked.messages ?? []).map(toMessage),
    tools: (asked.tools ?? []).flatMap((tool) => {
      const { name, description, parameters } = readAs(Tool, tool)?.function ?? {};
      return name === undefined ? [] : [toolOf(name, description, parameters)];
    }),
    isForced: isOneTool(asked.tool_choice),
    stop: [asked.stop ?? []].flat(),
    temperature: asked.temperature ?? null,
    limits: { tokens: { max_tokens, max_completion_tokens, n_predict }, answers: { n } },
  };
}

function toMessage(given: unknown): ModelMessage {
  const message = readAs(Message, given);
  const text = contentText(message?.content);
  switch (message?.role) {
    case 'system':
    case 'developer':
      return { role: 'system', text };
    case 'tool':
      return { role: 'tool', call_id: message.tool_call_id ?? '', name: message.name ?? '', text };
    case 'assistant': {
      const calls = (message.tool_calls ?? []).flatMap((given) => {
        const call = readAs(Call, given);
        if (call?.function == null) return [];
        return [{ id: call.id, name: call.function.name, input: inputOf(call.function.arguments) }];
      });
      return { role: 'assistant', text, ...(calls.length === 0 ? {} : { tool_calls: calls }) };
    }
    default:
      return { role: 'user', text };
  }
}

function prepare(request: RequestText, target: Target): PreparedCall | { problem: string } {
  const changes = changesOf(request, target, {
    refused: { models: 'which model answers is not for the program to choose' },
    conversation: 'messages',
    // Of OpenAI, OpenRouter, Alibaba Cloud and xAI.
    serverMembers: ['web_search_options', 'plugins', 'enable_search', 'search_options', 'search_parameters'],
    clientPart: (tool) => (isRunByProgram(tool) ? 'all' : 'nothing'),
  });
  if ('problem' in changes) return changes;
  const { edits, members } = changes;
  const { text, body } = request;
  const options = readAs(StreamOptions, body.stream_options);
  const hidesUsage = body.stream === true && options?.include_usage !== true;
  if (!hidesUsage) return { edits, hidesUsage };
  const asked = JSON.stringify({ ...options, include_usage: true });
  const [place, start] = [members.get('stream_options'), text.indexOf('{') + 1];
  const edit =
    place === undefined
      ? { from: start, to: start, text: `"stream_options":${asked},` }
      : { ...place.value, text: asked };
  return { edits: [...edits, edit], hidesUsage };
}

function isRunByProgram(tool: unknown): boolean {
  const type = readAs(z.looseObject({ type: OptionalText }), tool)?.type ?? 'function';
  return type === 'function' || type === 'custom';
}

const StreamOptions = z.looseObject({ include_usage: Any });

const Delta = z.looseObject({
  content: Any,
  refusal: OptionalText,
  tool_calls: List,
});
const DeltaCall = z.looseObject({
  index: OptionalNumber,
  id: OptionalText,
  function: z.looseObject({ name: OptionalText, arguments: OptionalText }).nullish().catch(null),
});
const Choice = z.looseObject({
  index: OptionalNumber,
  delta: Delta.nullish().catch(null),
  message: Delta.nullish().catch(null),
  finish_reason: OptionalText,
});
const Piece = z.looseObject({
  model: OptionalText,
  choices: List,
  error: Any,
  usage: z
    .looseObject({
      prompt_tokens: OptionalNumber,
      completion_tokens: OptionalNumber,
      total_tokens: OptionalNumber,
      prompt_tokens_details: InputDetails,
      completion_tokens_details: OutputDetails,
    })
    .nullish()
    .catch(null),
});

const finishes: Record<string, AnswerDraft['finish']> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'refused',
};

function createReader(): AnswerReader {
  const draft = new AnswerDraft();
  const calls: CallKeys = new Map();
  return {
    add(value) {
      const piece = readAs(Piece, value);
      if (piece === null) return;
      draft.error ??= piece.error ?? null;
      draft.answeredBy = piece.model || draft.answeredBy;
      const { usage } = piece;
      if (usage != null)
        draft.counts = countsOf({
          ...{ input: usage.prompt_tokens, output: usage.completion_tokens, total: usage.total_tokens },
          ...{ read: usage.prompt_tokens_details, written: usage.completion_tokens_details },
        });
      const choices = (piece.choices ?? []).map((choice) => readAs(Choice, choice));
      const choice = choices.find((one) => (one?.index ?? 0) === 0);
      if (choice != null) addChoice(draft, choice, calls);
    },
    get answer() {
      return draft.read;
    },
  };
}

/** The key in the draft of the latest call with an index: some servers give all parallel calls the same one. */
type CallKeys = Map<number, string>;

function addChoice(
  draft: AnswerDraft,
  { delta, message, finish_reason }: z.infer<typeof Choice>,
  calls: CallKeys,
): void {
  const said = delta ?? message;
  draft.text += contentText(said?.content);
  draft.refusal += said?.refusal ?? '';
  for (const [place, given] of (said?.tool_calls ?? []).entries()) {
    const call = readAs(DeltaCall, given);
    const { id, function: called } = call ?? {};
    const index = call?.index ?? place;
    const known = calls.get(index) ?? String(index);
    const before = draft.idOfCall(known) ?? '';
    const isAnother = (id ?? '') !== '' && before !== '' && before !== id;
    const key = isAnother ? `${index} ${id}` : known;
    calls.set(index, key);
    draft.addToCall(key, {
      ...(id == null ? {} : { id }),
      ...(called?.name == null ? {} : { name: called.name }),
      input: called?.arguments ?? '',
    });
  }
  if (finish_reason == null) return;
  draft.finish = finishes[finish_reason] ?? 'other';
  draft.isComplete = true;
}

/** Whether an event of a stream only reports the usage. */
export function isUsageAlone(event: Buffer): boolean {
  const data = /^data:(.*)$/m.exec(event.toString('utf8'))?.[1] ?? '';
  // Most events are pieces of the answer: these need no parsing.
  if (!/"choices"\s*:\s*\[\s*\]/.test(data) || !data.includes('"usage"')) return false;
  const piece = readAs(Piece, parsed(data));
  return piece !== null && piece.choices?.length === 0 && piece.usage != null;
}

function parsed(text: string): unknown {
  try {
    return parseShallowJson(text);
  } catch {
    return null;
  }
}
