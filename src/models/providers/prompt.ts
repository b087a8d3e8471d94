import { z } from 'zod';
import { Json, type ModelMessage, type ModelTool, type ToolCall } from '../../schema/index.ts';
import type { ProviderRequest } from '../provider-adapter.ts';
import type { ProviderCall, ProviderOptions, ProviderPrompt, ProviderTool } from './provider-model.ts';
import type { ProviderKind } from './provider-state.ts';
import { withSoundCalls } from './sound-calls.ts';

/** A model and its interface, which determine to whom signed reasoning belongs. */
export interface ModelAddress {
  kind: ProviderKind;
  model: string;
}

const Metadata = z.record(z.string(), z.record(z.string(), Json)).optional();
const OwnPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string(), providerOptions: Metadata }),
  z.object({ type: z.literal('reasoning'), text: z.string(), providerOptions: Metadata }),
  z.object({
    type: z.literal('tool-call'),
    toolCallId: z.string(),
    toolName: z.string(),
    input: Json,
    providerOptions: Metadata,
  }),
]);
export type OwnPart = z.infer<typeof OwnPart>;

/** The provider's own form of an assistant's message, stored in `ModelMessage.provider`. */
export const OwnForm = z.object({ kind: z.string(), model: z.string(), content: z.array(OwnPart) });
export type OwnForm = z.infer<typeof OwnForm>;

type Message = ProviderPrompt[number];
type UserPart = Extract<Message, { role: 'user' }>['content'][number];
type AssistantPart = Extract<Message, { role: 'assistant' }>['content'][number];

/** Anthropic's limit of breakpoints in one request. */
const maxBreakpoints = 4;
/** OpenAI accepts four, Google five; the reply is cut at the others when it has arrived. */
const maxStopTexts: Record<ProviderKind, number> = {
  anthropic: 100,
  openai: 4,
  google: 5,
  'openai-compatible': 4,
};

/** The request in the form of the provider packages. */
export function providerCall(
  address: ModelAddress,
  request: ProviderRequest,
  signal: AbortSignal,
): ProviderCall {
  const stop = request.stop.filter((text) => text.trim() !== '').slice(0, maxStopTexts[address.kind]);
  const options = requestOptions[address.kind];
  return {
    prompt: providerPrompt(address, request.messages),
    maxOutputTokens: request.maxOutputTokens,
    ...(request.temperature === null ? {} : { temperature: request.temperature }),
    ...(stop.length === 0 ? {} : { stopSequences: stop }),
    ...(request.tools.length === 0
      ? {}
      : {
          tools: request.tools.map((tool) => providerTool(address.kind, tool)),
          toolChoice: { type: 'auto' as const },
        }),
    ...(options === undefined ? {} : { providerOptions: options }),
    abortSignal: signal,
  };
}

/** OpenAI stores replies by default; without storing, reasoning is encrypted in the reply and must be sent back. */
const requestOptions: Partial<Record<ProviderKind, ProviderOptions>> = {
  openai: { openai: { store: false } },
};

function providerTool(kind: ProviderKind, { name, description, input_schema }: ModelTool): ProviderTool {
  const tool = { type: 'function' as const, name, description, inputSchema: input_schema };
  // OpenAI's strict mode does not allow optional arguments.
  return kind === 'openai' ? { ...tool, strict: false } : tool;
}

/**
 * Messages that any provider accepts: one system message at the start, no two consecutive user messages, no empty text.
 * A later system message becomes a user message: Anthropic and Google allow it nowhere else.
 */
export function providerPrompt(address: ModelAddress, given: readonly ModelMessage[]): ProviderPrompt {
  const messages = withSoundCalls(address.kind, given);
  const breakpoints = breakpointsOf(address.kind, messages);
  const prompt: Message[] = [];
  for (const message of messages) {
    const options = breakpoints.has(message) ? cacheBreakpoint : undefined;
    const next = providerMessage(address, message, prompt, options);
    if (next !== null) append(address.kind, prompt, next);
  }
  return prompt;
}

const cacheBreakpoint: ProviderOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } };

/** The other providers detect the recurring prefix of a prompt themselves. */
function breakpointsOf(kind: ProviderKind, messages: readonly ModelMessage[]): ReadonlySet<ModelMessage> {
  if (kind !== 'anthropic') return new Set();
  return new Set(
    messages.filter((message) => isStable(message) && !isBlank(message.text)).slice(-maxBreakpoints),
  );
}

/** Anthropic rejects blank text. */
function isBlank(text: string): boolean {
  return text.trim() === '';
}

function isStable(message: ModelMessage): boolean {
  return message.role !== 'assistant' && message.stable === true;
}

function providerMessage(
  address: ModelAddress,
  message: ModelMessage,
  before: readonly Message[],
  options: ProviderOptions | undefined,
): Message | null {
  const text = message.text.toWellFormed();
  const isHead = before.every(({ role }) => role === 'system');
  switch (message.role) {
    case 'system':
      if (isBlank(text)) return null;
      return isHead
        ? withOptions({ role: 'system' as const, content: text }, options)
        : userMessage(text, options);
    case 'user':
      return isBlank(text) ? null : userMessage(text, options);
    case 'assistant': {
      const content = assistantContent(address, message);
      return content.length === 0 ? null : { role: 'assistant', content };
    }
    case 'tool': {
      const output = { type: 'text' as const, value: text };
      const { call_id: toolCallId, name: toolName } = message;
      const result = { type: 'tool-result' as const, toolCallId, toolName, output };
      return { role: 'tool', content: [withOptions(result, options)] };
    }
  }
}

function userMessage(text: string, options: ProviderOptions | undefined): Message {
  return { role: 'user', content: [withOptions({ type: 'text' as const, text }, options)] };
}

function withOptions<Part extends object>(part: Part, providerOptions: ProviderOptions | undefined): Part {
  return providerOptions === undefined ? part : { ...part, providerOptions };
}

/**
 * Adds a message, merging it with the previous one if they have the same role. Anthropic's texts stay separate, for
 * their breakpoints; for others they are joined, because many servers accept only a plain text.
 */
function append(kind: ProviderKind, prompt: Message[], next: Message): void {
  const last = prompt.at(-1);
  if (last?.role === 'tool' && next.role === 'tool') last.content.push(...next.content);
  else if (last?.role === 'user' && next.role === 'user') {
    const parts = [...last.content, ...next.content];
    last.content = kind === 'anthropic' ? parts : [{ type: 'text', text: joined(parts) }];
  } else if (last?.role === 'system' && next.role === 'system' && kind !== 'anthropic') {
    last.content = `${last.content}\n\n${next.content}`;
  } else prompt.push(next);
}

function joined(parts: readonly UserPart[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
}

function assistantContent(
  address: ModelAddress,
  message: Extract<ModelMessage, { role: 'assistant' }>,
): AssistantPart[] {
  const own = OwnForm.safeParse(message.provider);
  const { tool_calls = [] } = message;
  if (own.success && own.data.kind === address.kind && own.data.model === address.model)
    return ownContent(own.data.content, tool_calls);
  const text = message.text.toWellFormed();
  const calls = tool_calls.map(toolCallPart);
  return isBlank(text) ? calls : [{ type: 'text', text }, ...calls];
}

/** @param calls as they are sent: those within the content are from before they were corrected */
function ownContent(content: readonly OwnPart[], calls: readonly ToolCall[]): AssistantPart[] {
  let next = 0;
  return content.map((part) => {
    const call = part.type === 'tool-call' ? calls[next++] : undefined;
    if (part.type !== 'tool-call' || call === undefined) return ownPart(part);
    return ownPart({ ...part, toolCallId: call.id, toolName: call.name });
  });
}

function ownPart({ providerOptions, ...part }: OwnPart): AssistantPart {
  const given = part.type === 'tool-call' ? { ...part, input: objectInput(part.input) } : part;
  return withOptions(given, providerOptions);
}

function toolCallPart({ id, name, input }: ToolCall): AssistantPart {
  return { type: 'tool-call', toolCallId: id, toolName: name, input: objectInput(input) };
}

/** Providers accept only objects: other input is wrapped in one. */
function objectInput(input: ToolCall['input']): ToolCall['input'] {
  return typeof input === 'object' && input !== null && !Array.isArray(input) ? input : { unparsed: input };
}
