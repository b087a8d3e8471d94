import type { ModelMessage, ToolCall } from '../../../schema/index.ts';

/** Messages in the trace's format, for dialects that divide them differently. */
export class DialectConversation {
  readonly messages: ModelMessage[] = [];
  readonly #toolNames = new Map<string, string>();

  add(role: 'system' | 'user', text: string): void {
    this.messages.push({ role, text });
  }

  /** What the model said and called: several parts of one turn become one message. */
  addAnswer(text: string, call?: ToolCall): void {
    if (call !== undefined) this.#toolNames.set(call.id, call.name);
    const last = this.messages.at(-1);
    if (last?.role !== 'assistant') {
      this.messages.push({ role: 'assistant', text, ...(call === undefined ? {} : { tool_calls: [call] }) });
      return;
    }
    last.text += text;
    if (call !== undefined) last.tool_calls = [...(last.tool_calls ?? []), call];
  }

  /** @param name of the tool, if the dialect gives it; default: the name in the call */
  addResult(callId: string, text: string, name = this.#toolNames.get(callId) ?? ''): void {
    this.messages.push({ role: 'tool', call_id: callId, name, text });
  }
}
