import type { ModelReply } from '../../environment/index.ts';
import type { ModelMessage } from '../../schema/index.ts';

export type Answered = Extract<ModelReply, { kind: 'answered' }>;
export type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>;

/** The answer of a model, as it stands in later requests. */
export function asMessage({ text, tool_calls, provider }: Answered): AssistantMessage {
  return {
    role: 'assistant',
    text,
    ...(tool_calls.length === 0 ? {} : { tool_calls }),
    ...(provider === undefined ? {} : { provider }),
  };
}
