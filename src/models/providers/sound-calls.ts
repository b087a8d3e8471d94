import type { ModelMessage } from '../../schema/index.ts';
import type { ProviderKind } from './provider-state.ts';

/** The longest name of a tool that all providers accept. */
const longestName = 64;
const unsound = /[^A-Za-z0-9_-]/g;

/**
 * Messages whose tool calls any provider accepts: with valid names, and each with a unique id. Models also call tools
 * that do not exist, by names such as `functions.list files`, and some servers give several calls the same id or none;
 * a conversation with such a call would be rejected from then on.
 */
export function withSoundCalls(kind: ProviderKind, messages: readonly ModelMessage[]): ModelMessage[] {
  const taken = new Set<string>();
  // For the reply that is being answered: the ids that are sent for each received id, in order.
  let waiting = new Map<string, string[]>();
  return messages.map((message) => {
    if (message.role === 'tool') {
      const [id = message.call_id, ...others] = waiting.get(message.call_id) ?? [];
      waiting.set(message.call_id, others);
      return { ...message, call_id: id, name: soundName(message.name) };
    }
    if (message.role !== 'assistant' || message.tool_calls === undefined) return message;
    waiting = new Map();
    const calls = message.tool_calls.map((call) => {
      const id = ownId(soundId(kind, call.id), taken);
      waiting.set(call.id, [...(waiting.get(call.id) ?? []), id]);
      return { ...call, id, name: soundName(call.name) };
    });
    return { ...message, tool_calls: calls };
  });
}

function soundName(name: string): string {
  return name.replaceAll(unsound, '_').slice(0, longestName) || 'unnamed';
}

/** Only Anthropic restricts them; other servers may give theirs a meaning. */
function soundId(kind: ProviderKind, id: string): string {
  return (kind === 'anthropic' ? id.replaceAll(unsound, '_') : id.toWellFormed()) || 'call';
}

function ownId(id: string, taken: Set<string>): string {
  let own = id;
  for (let number = 2; taken.has(own); number += 1) own = `${id}_${number}`;
  taken.add(own);
  return own;
}
