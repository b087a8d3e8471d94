import { z } from 'zod';
import { parseShallowJson } from '../../../lib/shallow-json.ts';
import type { ModelAnswer, TokenUsage, ToolCall } from '../../../schema/index.ts';
import type { ReadAnswer } from './dialect.ts';

interface CallDraft {
  id: string;
  name: string;
  /** The arguments as JSON text. */
  input: string;
}

/** How a dialect counts: `input` includes cached tokens, `output` includes reasoning tokens. */
export type Counts = Partial<Record<'input' | 'cachedInput' | 'cacheWrite' | 'output' | 'reasoning', number>>;

/** A model's answer while its pieces arrive. */
export class AnswerDraft {
  text = '';
  refusal = '';
  answeredBy: string | null = null;
  finish: 'stop' | 'length' | 'tool_calls' | 'refused' | 'context_full' | 'other' | null = null;
  isComplete = false;
  isReasoningHidden = false;
  error: unknown = null;
  counts: Counts = {};
  readonly #calls = new Map<string | number, CallDraft>();

  get callCount(): number {
    return this.#calls.size;
  }

  /** Undefined if there is no such call; empty if its id has not arrived. */
  idOfCall(key: string | number): string | undefined {
    return this.#calls.get(key)?.id;
  }

  /** Adds to a tool call, which the dialect identifies by this key. */
  addToCall(key: string | number, { id, name, input }: Partial<CallDraft>): void {
    const call = this.#calls.get(key) ?? { id: '', name: '', input: '' };
    call.id = id ?? call.id;
    call.name = name ?? call.name;
    call.input += input ?? '';
    this.#calls.set(key, call);
  }

  /** Replaces what arrived of a tool call by all of it. */
  setCall(key: string | number, call: CallDraft): void {
    this.#calls.set(key, call);
  }

  get read(): ReadAnswer {
    const { answeredBy, isReasoningHidden, isComplete, error } = this;
    const [answer, usage] = [this.#answer(), usageOf(this.counts)];
    const hasEnded = isComplete || this.finish !== null;
    return { answer, answeredBy, usage, isReasoningHidden, isComplete, hasEnded, error };
  }

  #answer(): ModelAnswer | null {
    const { text, refusal, finish } = this;
    if (finish === 'refused' || refusal !== '')
      return { kind: 'refused', message: refusal || text || 'declined because of the content' };
    if (finish === 'context_full')
      return { kind: 'context_too_long', message: 'the reply filled up what the model can read' };
    if (text === '' && this.#calls.size === 0 && finish === null) return null;
    const calls = [...this.#calls.values()].map(toToolCall);
    const ended = calls.length > 0 && finish !== 'length' ? 'tool_calls' : (finish ?? 'other');
    return { kind: 'answered', text, tool_calls: calls, finish: ended };
  }
}

function toToolCall({ id, name, input }: CallDraft): ToolCall {
  return { id, name, input: parsedInput(input) };
}

function parsedInput(text: string): ToolCall['input'] {
  if (text.trim() === '') return {};
  try {
    return z.json().parse(parseShallowJson(text));
  } catch {
    return text;
  }
}

/** No call has more; with this limit, sums of a server's invented numbers stay whole numbers. */
const maxTokens = 1e9;

function usageOf({ input, output, cachedInput, cacheWrite, reasoning }: Counts): TokenUsage | null {
  if (input === undefined || output === undefined) return null;
  const count = (value: number | undefined) => Math.min(Math.max(0, Math.round(value ?? 0)), maxTokens);
  const [all, written] = [count(input), count(output)];
  const cached = Math.min(count(cachedInput), all);
  return {
    input: all,
    cached_input: cached,
    cache_write: Math.min(count(cacheWrite), all - cached),
    output: written,
    reasoning: Math.min(count(reasoning), written),
    source: 'provider',
  };
}
