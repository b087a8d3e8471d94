import { z } from 'zod';
import { membersOf } from '../json-edits.ts';
import { AnswerDraft } from './answer-draft.ts';
import { type ChangeRules, changesOf } from './changes.ts';
import { DialectConversation } from './conversation.ts';
import type {
  AnswerReader,
  Dialect,
  ErrorCode,
  HttpAnswer,
  PreparedCall,
  ReadRequest,
  RequestText,
  Route,
  Target,
} from './dialect.ts';
import { Any, inputOf, List, OptionalNumber, OptionalText, readAs, Text, toolOf } from './reading.ts';
import { storedReason } from './stored-content.ts';

/** Google's generateContent and streamGenerateContent. */
export const generateContent: Dialect = {
  name: 'generate_content',
  route,
  read,
  prepare,
  createReader,
  error,
  keepAlive: 'data: {}\n\n',
  models: (names) => ({
    models: names.map((name) => ({
      name: `models/${name}`,
      displayName: name,
      supportedGenerationMethods: ['generateContent', 'countTokens'],
    })),
  }),
};

const rules: ChangeRules = {
  refused: { cachedContent: storedReason, cached_content: storedReason },
  serverMembers: [],
  clientPart,
  bodyName: (model) => `models/${model}`,
};

function prepare(request: RequestText, target: Target): PreparedCall | { problem: string } {
  const { body } = request;
  const isAmbiguous = [body, body.generationConfig, body.generation_config].some(hasTwoSpellings);
  return isAmbiguous
    ? { problem: 'Two members of the body differ only in their spelling.' }
    : changesOf(request, target, rules);
}

function hasTwoSpellings(value: unknown): boolean {
  const names = Object.keys(readAs(z.looseObject({}), value) ?? {}).map(camelName);
  return new Set(names).size < names.length;
}

function route(path: string): Route | null {
  const match = /^\/models\/([^/:]+):(generateContent|streamGenerateContent|countTokens)$/.exec(path);
  const [, model = '', method = ''] = match ?? [];
  if (match === null) return null;
  return {
    kind: method === 'countTokens' ? 'count' : 'generate',
    model,
    isStreaming: method === 'streamGenerateContent',
    pathFor: (name) => `/models/${name}:${method}`,
  };
}

/** A tool of this dialect may combine several: functions that the program runs, and searches that Google runs. */
function clientPart(tool: unknown, text: string): 'all' | 'nothing' | { text: string } {
  const names = Object.keys(readAs(z.looseObject({}), tool) ?? {});
  const own = names.find((name) => /^function_?declarations$/i.test(name));
  if (own === undefined) return 'nothing';
  const member = membersOf(text).members.get(own);
  return names.length === 1 || member === undefined
    ? 'all'
    : { text: `{${text.slice(member.from, member.to)}}` };
}

/** Google accepts `max_output_tokens` as well as `maxOutputTokens`. */
function camelCased(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [camelName(name), item]));
}

function camelName(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function object<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.preprocess(camelCased, z.looseObject(shape));
}

const Part = object({
  text: OptionalText,
  thought: Any,
  functionCall: z.looseObject({ id: Text, name: Text, args: Any }).nullish().catch(null),
  functionResponse: z.looseObject({ id: Text, name: Text, response: Any }).nullish().catch(null),
});
const Content = object({ role: OptionalText, parts: List });
const Declaration = object({ name: Text, description: Any, parameters: Any, parametersJsonSchema: Any });
const Tool = object({ functionDeclarations: List });
const Choice = object({
  functionCallingConfig: object({
    mode: z.literal('ANY'),
    allowedFunctionNames: z.array(z.string()).length(1),
  }),
});
const Request = object({
  systemInstruction: Any,
  contents: Any,
  tools: Any,
  toolConfig: Any,
  generationConfig: object({
    maxOutputTokens: Any,
    temperature: OptionalNumber,
    stopSequences: z.array(z.string()).nullish().catch(null),
    candidateCount: Any,
  })
    .nullish()
    .catch(null),
});

function read(body: unknown): ReadRequest {
  const { systemInstruction, contents, tools, toolConfig, generationConfig } = Request.parse(body);
  const conversation = new DialectConversation();
  if (systemInstruction != null)
    conversation.add(
      'system',
      partsOf(systemInstruction)
        .map((part) => part.text ?? '')
        .join(''),
    );
  for (const content of [contents ?? []].flat()) addContent(conversation, content);
  const { maxOutputTokens, candidateCount } = generationConfig ?? {};
  return {
    model: null,
    isStreaming: false,
    messages: conversation.messages,
    tools: [tools ?? []]
      .flat()
      .flatMap((tool) => readAs(Tool, tool)?.functionDeclarations ?? [])
      .flatMap((given) => {
        const tool = readAs(Declaration, given);
        return tool === null
          ? []
          : [toolOf(tool.name, tool.description, tool.parametersJsonSchema ?? tool.parameters)];
      }),
    isForced: readAs(Choice, toolConfig) !== null,
    stop: generationConfig?.stopSequences ?? [],
    temperature: generationConfig?.temperature ?? null,
    limits: { tokens: { maxOutputTokens }, answers: { candidateCount } },
  };
}

function partsOf(content: unknown): z.infer<typeof Part>[] {
  const parts = readAs(Content, content)?.parts ?? [];
  return parts.map((part) => readAs(Part, part)).filter((part) => part !== null);
}

function addContent(conversation: DialectConversation, content: unknown): void {
  const isModel = readAs(Content, content)?.role === 'model';
  for (const { text, thought, functionCall: call, functionResponse: result } of partsOf(content)) {
    if (result != null)
      conversation.addResult(result.id || result.name, JSON.stringify(result.response ?? null), result.name);
    else if (call != null)
      conversation.addAnswer('', { id: call.id || call.name, name: call.name, input: inputOf(call.args) });
    else if (!isModel) conversation.add('user', text ?? '[unknown content]');
    else if (thought !== true) conversation.addAnswer(text ?? '');
  }
}

const Piece = z.looseObject({
  candidates: List,
  error: Any,
  modelVersion: OptionalText,
  promptFeedback: z.looseObject({ blockReason: OptionalText }).nullish().catch(null),
  usageMetadata: z
    .looseObject({
      promptTokenCount: OptionalNumber,
      toolUsePromptTokenCount: OptionalNumber,
      candidatesTokenCount: OptionalNumber,
      thoughtsTokenCount: OptionalNumber,
      cachedContentTokenCount: OptionalNumber,
    })
    .nullish()
    .catch(null),
});
const Candidate = z.looseObject({ content: Any, finishReason: OptionalText });

function createReader(): AnswerReader {
  const draft = new AnswerDraft();
  return {
    add(value) {
      // Without `alt=sse` a stream is one list.
      for (const given of Array.isArray(value) ? value : [value]) {
        const piece = readAs(Piece, given);
        if (piece !== null) addPiece(draft, piece);
      }
    },
    get answer() {
      return draft.read;
    },
  };
}

function addPiece(draft: AnswerDraft, piece: z.infer<typeof Piece>): void {
  if (piece.error != null) draft.error = { error: piece.error };
  draft.answeredBy = piece.modelVersion ?? draft.answeredBy;
  const { usageMetadata: usage, promptFeedback } = piece;
  if (usage != null)
    draft.counts = {
      input: (usage.promptTokenCount ?? 0) + (usage.toolUsePromptTokenCount ?? 0),
      output: (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0),
      cachedInput: usage.cachedContentTokenCount ?? 0,
      reasoning: usage.thoughtsTokenCount ?? 0,
    };
  if (promptFeedback?.blockReason != null) end(draft, promptFeedback.blockReason);
  const candidate = readAs(Candidate, piece.candidates?.[0]);
  for (const { text, thought, functionCall: call } of partsOf(candidate?.content)) {
    if (call != null) {
      const place = draft.callCount;
      draft.addToCall(place, {
        id: call.id || `${call.name}_${place}`,
        name: call.name,
        input: JSON.stringify(call.args ?? {}),
      });
    } else if (thought !== true) draft.text += text ?? '';
  }
  if (candidate?.finishReason != null) end(draft, candidate.finishReason);
}

function end(draft: AnswerDraft, reason: string): void {
  const isDeclined = /SAFETY|RECITATION|BLOCKLIST|PROHIBITED_CONTENT|SPII/.test(reason);
  const ends: Record<string, AnswerDraft['finish']> = { STOP: 'stop', MAX_TOKENS: 'length' };
  draft.finish = isDeclined ? 'refused' : (ends[reason] ?? 'other');
  draft.isComplete = true;
}

const errors: Record<ErrorCode, [code: number, status: string]> = {
  unauthorised: [401, 'UNAUTHENTICATED'],
  not_found: [404, 'NOT_FOUND'],
  bad_request: [400, 'INVALID_ARGUMENT'],
  no_websocket: [426, 'INVALID_ARGUMENT'],
  too_large: [413, 'INVALID_ARGUMENT'],
  // Clients retry Google's own code, RESOURCE_EXHAUSTED.
  over_quota: [400, 'FAILED_PRECONDITION'],
  closed: [400, 'FAILED_PRECONDITION'],
  rate_limited: [429, 'RESOURCE_EXHAUSTED'],
  unavailable: [502, 'UNAVAILABLE'],
  internal: [500, 'INTERNAL'],
};

function error(code: ErrorCode, message: string): HttpAnswer {
  const [number, status] = errors[code];
  return { status: number, body: { error: { code: number, message, status } } };
}
