import { z } from 'zod';
import { AnswerDraft } from './answer-draft.ts';
import { changesOf } from './changes.ts';
import { DialectConversation } from './conversation.ts';
import type { AnswerReader, Dialect, ErrorCode, HttpAnswer, ReadRequest, Route } from './dialect.ts';
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

/** Anthropic's Messages. */
export const messages: Dialect = {
  name: 'messages',
  route,
  read,
  prepare: (request, target) =>
    changesOf(request, target, {
      refused: {},
      conversation: 'messages',
      serverMembers: ['mcp_servers'],
      clientPart: (tool) => (isRunByProgram(tool) ? 'all' : 'nothing'),
    }),
  createReader,
  error,
  keepAlive: 'event: ping\ndata: {"type": "ping"}\n\n',
  models: (names) => ({
    data: names.map((id) => ({ type: 'model', id, display_name: id, created_at: '1970-01-01T00:00:00Z' })),
    has_more: false,
    first_id: names[0] ?? null,
    last_id: names.at(-1) ?? null,
  }),
};

function route(path: string): Route | null {
  if (path !== '/messages' && path !== '/messages/count_tokens') return null;
  const kind = path === '/messages' ? 'generate' : 'count';
  return { kind, model: null, isStreaming: null, pathFor: () => path };
}

/** Tools with a type are Anthropic's; of these, programs run the shell, the editor, the memory and the computer. */
function isRunByProgram(tool: unknown): boolean {
  const type = readAs(z.looseObject({ type: OptionalText }), tool)?.type ?? 'custom';
  return /^(custom$|bash_|text_editor_|memory_|computer_|tool_search_tool_)/.test(type);
}

const Block = z.looseObject({
  type: Text,
  text: OptionalText,
  id: Text,
  name: Text,
  input: Any,
  tool_use_id: Text,
  content: Any,
});
const Message = z.looseObject({ role: Text, content: Any });
const Tool = z.looseObject({ name: Text, description: Any, input_schema: Any });
const Request = z.looseObject({
  model: OptionalText,
  system: Any,
  messages: List,
  tools: List,
  tool_choice: Any,
  stream: z.boolean().nullish().catch(null),
  stop_sequences: z.array(z.string()).nullish().catch(null),
  temperature: OptionalNumber,
  max_tokens: Any,
});

function read(body: unknown): ReadRequest {
  const asked = Request.parse(body);
  const conversation = new DialectConversation();
  if (asked.system != null) conversation.add('system', contentText(asked.system));
  for (const message of asked.messages ?? []) addMessage(conversation, message);
  return {
    model: asked.model ?? null,
    isStreaming: asked.stream === true,
    messages: conversation.messages,
    tools: (asked.tools ?? []).flatMap((given) => {
      const tool = readAs(Tool, given);
      return tool === null ? [] : [toolOf(tool.name, tool.description, tool.input_schema)];
    }),
    isForced: isOneTool(asked.tool_choice),
    stop: asked.stop_sequences ?? [],
    temperature: asked.temperature ?? null,
    limits: { tokens: { max_tokens: asked.max_tokens }, answers: {} },
  };
}

function addMessage(conversation: DialectConversation, given: unknown): void {
  const { role = 'user', content } = readAs(Message, given) ?? {};
  if (!Array.isArray(content)) {
    const text = contentText(content);
    if (role === 'assistant') conversation.addAnswer(text);
    else conversation.add(role === 'system' ? 'system' : 'user', text);
    return;
  }
  for (const part of content) {
    const block = readAs(Block, part);
    if (block?.type === 'tool_result') conversation.addResult(block.tool_use_id, contentText(block.content));
    else if (block?.type === 'tool_use')
      conversation.addAnswer('', { id: block.id, name: block.name, input: inputOf(block.input) });
    else if (role !== 'assistant') conversation.add('user', contentText([part]));
    else if (block?.type === 'text') conversation.addAnswer(block.text ?? '');
  }
}

const Usage = z
  .looseObject({
    input_tokens: OptionalNumber,
    cache_read_input_tokens: OptionalNumber,
    cache_creation_input_tokens: OptionalNumber,
    output_tokens: OptionalNumber,
    output_tokens_details: z.looseObject({ thinking_tokens: OptionalNumber }).nullish().catch(null),
    iterations: List,
  })
  .nullish()
  .catch(null);
const Reply = z.looseObject({ model: OptionalText, content: List, stop_reason: OptionalText, usage: Usage });
const Delta = z.looseObject({
  text: OptionalText,
  partial_json: OptionalText,
  stop_reason: OptionalText,
});
const Piece = z.looseObject({
  type: Text,
  index: OptionalNumber,
  message: Reply.nullish().catch(null),
  content_block: Block.nullish().catch(null),
  delta: Delta.nullish().catch(null),
  usage: Usage,
  error: Any,
});

const finishes: Record<string, AnswerDraft['finish']> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  tool_use: 'tool_calls',
  refusal: 'refused',
  model_context_window_exceeded: 'context_full',
};

function createReader(): AnswerReader {
  const draft = new AnswerDraft();
  /** Anthropic counts cached tokens separately from the rest. */
  const counts: Record<string, number> = {};
  const count = (usage: z.infer<typeof Usage>) => {
    Object.assign(counts, totalsOf(usage));
    const { input_tokens: plain, output_tokens: output } = counts;
    const { cache_read_input_tokens: cachedInput = 0, cache_creation_input_tokens: cacheWrite = 0 } = counts;
    const reasoning = usage?.output_tokens_details?.thinking_tokens ?? draft.counts.reasoning ?? 0;
    if (plain === undefined || output === undefined) return;
    draft.counts = { input: plain + cachedInput + cacheWrite, cachedInput, cacheWrite, output, reasoning };
  };
  return {
    add(value) {
      const piece = readAs(Piece, value);
      if (piece?.type === 'message') readReply(draft, value, count);
      else if (piece !== null) addPiece(draft, piece, count);
    },
    get answer() {
      return draft.read;
    },
  };
}

/** The totals that Anthropic reports leave out iterations that summarise the conversation. */
function totalsOf(usage: z.infer<typeof Usage>): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const iteration of usage?.iterations ?? [])
    for (const [name, value] of numbersIn(readAs(z.looseObject({}), iteration)))
      sums[name] = (sums[name] ?? 0) + value;
  for (const [name, value] of numbersIn(usage)) sums[name] = Math.max(sums[name] ?? value, value);
  return sums;
}

function numbersIn(value: object | null | undefined): [name: string, value: number][] {
  return Object.entries(value ?? {}).filter(([, item]) => typeof item === 'number');
}

type Count = (usage: z.infer<typeof Usage>) => void;

function readReply(draft: AnswerDraft, value: unknown, count: Count): void {
  const reply = readAs(Reply, value);
  if (reply === null) return;
  for (const [place, block] of (reply.content ?? []).entries()) {
    const read = readAs(Block, block);
    if (read !== null) addBlock(draft, place, read);
  }
  draft.answeredBy = reply.model ?? null;
  count(reply.usage);
  end(draft, reply.stop_reason);
  draft.isComplete = true;
}

function addPiece(draft: AnswerDraft, piece: z.infer<typeof Piece>, count: Count): void {
  const place = piece.index ?? 0;
  switch (piece.type) {
    case 'message_start':
      draft.answeredBy = piece.message?.model ?? null;
      count(piece.message?.usage);
      break;
    case 'content_block_start':
      if (piece.content_block != null) addBlock(draft, place, { ...piece.content_block, input: undefined });
      break;
    case 'content_block_delta':
      draft.text += piece.delta?.text ?? '';
      // Calls of tools that Anthropic runs come in the same form.
      if (piece.delta?.partial_json != null && draft.idOfCall(place) !== undefined)
        draft.addToCall(place, { input: piece.delta.partial_json });
      break;
    case 'message_delta':
      count(piece.usage);
      end(draft, piece.delta?.stop_reason);
      break;
    case 'message_stop':
      draft.isComplete = true;
      break;
    case 'error':
      draft.error = { error: piece.error ?? null };
  }
}

function addBlock(
  draft: AnswerDraft,
  place: number,
  { type, text, id, name, input }: z.infer<typeof Block>,
): void {
  if (type === 'text') draft.text += text ?? '';
  if (type !== 'tool_use') return;
  draft.addToCall(place, { id, name, input: input === undefined ? '' : JSON.stringify(input) });
}

function end(draft: AnswerDraft, reason: string | null | undefined): void {
  if (reason != null) draft.finish = finishes[reason] ?? 'other';
}

const errors: Record<ErrorCode, [status: number, type: string]> = {
  unauthorised: [401, 'authentication_error'],
  not_found: [404, 'not_found_error'],
  bad_request: [400, 'invalid_request_error'],
  no_websocket: [426, 'invalid_request_error'],
  too_large: [413, 'request_too_large'],
  // What Anthropic returns for an account without credit.
  over_quota: [400, 'invalid_request_error'],
  closed: [400, 'invalid_request_error'],
  rate_limited: [429, 'rate_limit_error'],
  unavailable: [502, 'api_error'],
  internal: [500, 'api_error'],
};

function error(code: ErrorCode, message: string): HttpAnswer {
  const [status, type] = errors[code];
  return { status, body: { type: 'error', error: { type, message } } };
}
