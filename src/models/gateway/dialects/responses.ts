import { z } from 'zod';
import type { ModelTool } from '../../../schema/index.ts';
import { elementsOf, type JsonEdit, type JsonMember, membersOf } from '../json-edits.ts';
import { AnswerDraft } from './answer-draft.ts';
import { type ChangeRules, changesOf, toolsWithout } from './changes.ts';
import { DialectConversation } from './conversation.ts';
import type {
  AnswerReader,
  Dialect,
  PreparedCall,
  ReadRequest,
  RequestText,
  Route,
  Target,
} from './dialect.ts';
import { countsOf, InputDetails, OutputDetails, openaiModels, responsesError } from './openai.ts';
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
import { storedReason } from './stored-content.ts';

/** OpenAI's Responses. */
export const responses: Dialect = {
  name: 'responses',
  route,
  read,
  prepare,
  createReader,
  error: responsesError,
  keepAlive: ': waiting\n\n',
  models: openaiModels,
};

const rules: ChangeRules = {
  refused: {
    ...{ previous_response_id: storedReason, conversation: storedReason, prompt: storedReason },
    background: 'the answer would be read elsewhere',
  },
  conversation: 'input',
  serverMembers: [],
  clientPart: (tool) => (isRunByProgram(tool) ? 'all' : 'nothing'),
};

function prepare(request: RequestText, target: Target): PreparedCall | { problem: string } {
  const changes = changesOf(request, target, rules);
  if ('problem' in changes || target.serverTools) return changes;
  return { ...changes, edits: [...changes.edits, ...editsOfItems(request, changes.members.get('input'))] };
}

/** Items of a conversation may contain tools, too. */
function editsOfItems({ text, body }: RequestText, input: JsonMember | undefined): JsonEdit[] {
  if (input === undefined || !Array.isArray(body.input)) return [];
  const items = body.input.map((item) => readAs(z.looseObject({ tools: List }), item)?.tools ?? null);
  if (items.every((tools) => tools === null)) return [];
  return elementsOf(text, input.value.from).flatMap(({ from }, place) => {
    const tools = items[place] ?? null;
    const member = tools === null ? undefined : membersOf(text, from).members.get('tools');
    const edit = toolsWithout(text, tools, member, rules);
    if (edit === 'none') return member === undefined ? [] : [{ ...member.value, text: '[]' }];
    return edit ?? [];
  });
}

const kinds: Record<string, Route['kind']> = {
  '/responses': 'generate',
  '/responses/compact': 'generate',
  '/responses/input_tokens': 'count',
};

function route(path: string): Route | null {
  const kind = Object.hasOwn(kinds, path) ? kinds[path] : undefined;
  return kind === undefined ? null : { kind, model: null, isStreaming: null, pathFor: () => path };
}

/** OpenAI runs all others, such as web search and remote MCP servers. */
const runByPrograms = new Set([
  'function',
  'custom',
  'local_shell',
  'apply_patch',
  'computer',
  'tool_search',
]);

function isRunByProgram(tool: unknown): boolean {
  const read = readAs(z.looseObject({ type: Text, environment: Any, tools: List }), tool);
  if (read?.type === 'namespace') return (read.tools ?? []).every(isRunByProgram);
  // A shell without an environment, or with the program's own.
  if (read?.type === 'shell')
    return readAs(z.looseObject({ type: z.literal('local') }), read.environment) !== null;
  return runByPrograms.has(read?.type ?? '') || /^computer_/.test(read?.type ?? '');
}

const Item = z.looseObject({
  type: OptionalText,
  id: OptionalText,
  role: OptionalText,
  content: Any,
  call_id: Text,
  name: OptionalText,
  arguments: Any,
  input: Any,
  action: Any,
  output: Any,
  /** Tools in an item. */
  tools: List,
});
const Tool = z.looseObject({
  type: Text,
  name: OptionalText,
  description: Any,
  parameters: Any,
  tools: List,
});
const Request = z.looseObject({
  model: OptionalText,
  instructions: Any,
  input: Any,
  tools: List,
  tool_choice: Any,
  stream: z.boolean().nullish().catch(null),
  temperature: OptionalNumber,
  max_output_tokens: Any,
});

function read(body: unknown): ReadRequest {
  const asked = Request.parse(body);
  const conversation = new DialectConversation();
  if (asked.instructions != null) conversation.add('system', contentText(asked.instructions));
  if (typeof asked.input === 'string') conversation.add('user', asked.input);
  const items: unknown[] = Array.isArray(asked.input) ? asked.input : [];
  for (const item of items) addItem(conversation, item);
  return {
    model: asked.model ?? null,
    isStreaming: asked.stream === true,
    messages: conversation.messages,
    tools: [asked.tools ?? [], ...items.map((item) => readAs(Item, item)?.tools ?? [])]
      .flat()
      .flatMap(toolsOf),
    isForced: isOneTool(asked.tool_choice),
    stop: [],
    temperature: asked.temperature ?? null,
    limits: { tokens: { max_output_tokens: asked.max_output_tokens }, answers: {} },
  };
}

/** A tool, or those of a namespace. */
function toolsOf(given: unknown): ModelTool[] {
  const tool = readAs(Tool, given);
  if (tool === null) return [];
  if (tool.type === 'namespace') return (tool.tools ?? []).flatMap(toolsOf);
  return [toolOf(tool.name ?? tool.type, tool.description, tool.parameters)];
}

function addItem(conversation: DialectConversation, given: unknown): void {
  const item = readAs(Item, given);
  if (item === null) return;
  const { type, role, call_id: id, name } = item;
  if (role === 'assistant') conversation.addAnswer(contentText(item.content));
  else if (item.tools != null) return;
  else if (role != null) conversation.add(role === 'user' ? 'user' : 'system', contentText(item.content));
  else if (type?.endsWith('_call_output')) conversation.addResult(id, contentText(item.output));
  else if (type?.endsWith('_call'))
    conversation.addAnswer('', { id, name: name ?? type, input: callInput(item) });
}

/** The arguments of a tool call: JSON for functions, text for others. */
function callInput({ arguments: given, input, action }: z.infer<typeof Item>) {
  return inputOf(given ?? input ?? action);
}

const Reply = z.looseObject({
  model: OptionalText,
  status: OptionalText,
  output: List,
  error: Any,
  incomplete_details: z.looseObject({ reason: OptionalText }).nullish().catch(null),
  usage: z
    .looseObject({
      input_tokens: OptionalNumber,
      output_tokens: OptionalNumber,
      total_tokens: OptionalNumber,
      input_tokens_details: InputDetails,
      output_tokens_details: OutputDetails,
    })
    .nullish()
    .catch(null),
});
const Piece = z.looseObject({
  type: Text,
  delta: OptionalText,
  item: Any,
  output_index: OptionalNumber,
  response: Any,
});

function createReader(): AnswerReader {
  let draft = new AnswerDraft();
  return {
    add(value) {
      const piece = readAs(Piece, value);
      if (piece === null) return;
      if (piece.type === 'response.output_text.delta') draft.text += piece.delta ?? '';
      else if (piece.type === 'response.refusal.delta') draft.refusal += piece.delta ?? '';
      else if (/^response\.output_item\.(added|done)$/.test(piece.type))
        addItemOf(draft, piece.output_index ?? 0, piece.item);
      else if (/^response\.(function_call_arguments|custom_tool_call_input)\.delta$/.test(piece.type))
        draft.addToCall(piece.output_index ?? 0, { input: piece.delta ?? '' });
      else if (piece.type === 'response.created')
        draft.answeredBy = readAs(Reply, piece.response)?.model ?? null;
      else if (piece.type === 'error') draft.error = value;
      else if (/^response\.(completed|incomplete|failed)$/.test(piece.type))
        draft = ended(draft, piece.response);
      // A whole reply, or a conversation that was compacted.
      else if (!piece.type.startsWith('response.')) draft = ended(draft, value);
    },
    get answer() {
      return draft.read;
    },
  };
}

/** An item that begins, or is complete. */
function addItemOf(draft: AnswerDraft, place: number, item: unknown): void {
  addCall(draft, place, item);
  // OpenAI shows a summary of it at most.
  if (readAs(Item, item)?.type === 'reasoning') draft.isReasoningHidden = true;
}

/** The whole reply; if a server ends a stream with less than that, what the earlier pieces contained. */
function ended(before: AnswerDraft, value: unknown): AnswerDraft {
  const reply = readAs(Reply, value);
  if (reply === null) return before;
  const output = reply.output ?? [];
  const draft = output.length > 0 ? new AnswerDraft() : before;
  for (const [place, item] of output.entries()) addOutput(draft, place, item);
  const { usage, status } = reply;
  draft.answeredBy = reply.model ?? null;
  draft.error = reply.error == null ? null : { error: reply.error };
  draft.isComplete = status !== 'failed';
  const reason = reply.incomplete_details?.reason;
  if (reason != null) draft.finish = reason === 'content_filter' ? 'refused' : 'length';
  else if (status !== 'failed') draft.finish ??= 'stop';
  if (usage != null)
    draft.counts = countsOf({
      ...{ input: usage.input_tokens, output: usage.output_tokens, total: usage.total_tokens },
      ...{ read: usage.input_tokens_details, written: usage.output_tokens_details },
    });
  return draft;
}

const OutputPart = z.looseObject({ type: Text, text: Text, refusal: Text });

function addOutput(draft: AnswerDraft, place: number, given: unknown): void {
  const item = readAs(Item, given);
  if (item?.type !== 'message') {
    addCall(draft, place, given);
    return;
  }
  for (const part of Array.isArray(item.content) ? item.content : []) {
    const read = readAs(OutputPart, part);
    if (read?.type === 'refusal') draft.refusal += read.refusal;
    else draft.text += read?.text ?? '';
  }
}

function addCall(draft: AnswerDraft, place: number, given: unknown): void {
  const item = readAs(Item, given);
  const type = item?.type ?? '';
  // OpenAI itself has answered calls with another suffix, such as `web_search_call`.
  if (
    item === null ||
    !/^(function|custom_tool|local_shell|shell|apply_patch|computer|tool_search)_call$/.test(type)
  )
    return;
  const input = callInput(item);
  const text = typeof input === 'string' ? input : JSON.stringify(input);
  draft.setCall(place, { id: item.call_id, name: item.name ?? type.replace(/_call$/, ''), input: text });
}
