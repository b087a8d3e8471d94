import type { ModelMessage, ToolCall } from '../../schema/index.ts';
import type { AssistantMessage } from '../common/answered.ts';
import type { Taken } from '../common/careful-steps.ts';
import { compactedText, forgottenText } from './prompts.ts';

/** Code and numbers have more tokens per byte than prose, so this estimate is rather too high. */
const bytesPerToken = 3;
/** Shortening invalidates the providers' caches, so it makes room for many turns at once. */
const roomAfterShortening = 0.6;
const keptOfResult = 300;
/** The newest turns are shortened only if nothing else helps. */
const newestTurns = 2;
const maxActions = 30;

/** The result of one tool call. */
export interface ToolResult {
  call: ToolCall;
  action: string;
  status: Taken['status'] | 'not carried out';
  text: string;
  /** The run's state at that time; null if it comes with a later result. */
  state: string | null;
}

/** A reply of the model, and everything that was answered to it. */
interface Turn {
  reply: AssistantMessage;
  results: (ToolResult & { compacted: string | null })[];
  nudge: string | null;
  /** Of its messages; null if they have changed since. */
  tokens: number | null;
}

/** The whole conversation, and the part of it that is still sent when it becomes too long. */
export class ToolConversation {
  readonly #head: readonly ModelMessage[];
  /** Of what begins each request. */
  readonly #headTokens: number;
  readonly #turns: Turn[] = [];
  #limit: number;
  #forgotten: { turns: number; actions: string[] } = { turns: 0, actions: [] };

  /**
   * @param limit in tokens
   * @param tools what else each request contains
   */
  constructor(head: readonly ModelMessage[], tools: unknown, limit: number) {
    this.#head = head;
    this.#headTokens = tokensOf(tools) + tokensOfAll(head);
    this.#limit = limit;
  }

  addReply(reply: AssistantMessage): void {
    this.#turns.push({ reply, results: [], nudge: null, tokens: null });
  }

  addResult(result: ToolResult): void {
    const turn = this.#turns.at(-1);
    turn?.results.push({ ...result, compacted: null });
    if (turn !== undefined) turn.tokens = null;
  }

  /** Answers a reply that called no tool. */
  addNudge(text: string): void {
    const turn = this.#turns.at(-1);
    if (turn !== undefined) Object.assign(turn, { nudge: text, tokens: null });
  }

  /** The messages to send now, shortened if they are estimated to be too long. */
  messages(): ModelMessage[] {
    if (this.#tokens() > this.#limit) this.#shorten(this.#limit * roomAfterShortening, newestTurns);
    return this.#messages();
  }

  /** Shortens the conversation for a model that could not read it. Returns false if that is not possible. */
  shrink(): boolean {
    const before = this.#tokens();
    const target = Math.floor(Math.min(this.#limit, before) * roomAfterShortening);
    this.#shorten(target, newestTurns);
    if (this.#tokens() > target) this.#shorten(target, 0);
    this.#limit = Math.max(target, this.#tokens());
    return this.#tokens() < before;
  }

  #messages(): ModelMessage[] {
    return [...this.#head, ...this.#note(), ...this.#turns.flatMap(messagesOf)];
  }

  #note(): ModelMessage[] {
    const { turns, actions } = this.#forgotten;
    return turns === 0 ? [] : [{ role: 'user', text: forgottenText(turns, actions) }];
  }

  #tokens(): number {
    const before = this.#headTokens + tokensOfAll(this.#note());
    return this.#turns.reduce((sum, turn) => {
      turn.tokens ??= tokensOfAll(messagesOf(turn));
      return sum + turn.tokens;
    }, before);
  }

  /** Shortens the oldest results, then removes the oldest turns, until it fits or only the newest turns are left. */
  #shorten(target: number, kept: number): void {
    const old = this.#turns.slice(0, Math.max(0, this.#turns.length - kept));
    let tokens = this.#tokens();
    for (const turn of old) {
      for (const result of turn.results) {
        if (tokens <= target) return;
        tokens -= compact(result);
        turn.tokens = null;
      }
    }
    while (this.#tokens() > target && this.#turns.length > Math.max(1, kept)) this.#forgetOldest();
  }

  #forgetOldest(): void {
    const turn = this.#turns.shift();
    const actions = turn?.results.map(({ action, status }) => `${action} (${status})`) ?? [];
    this.#forgotten = {
      turns: this.#forgotten.turns + 1,
      actions: [...this.#forgotten.actions, ...actions].slice(-maxActions),
    };
  }
}

/** Returns how many tokens that saves. */
function compact(result: Turn['results'][number]): number {
  if (result.compacted !== null) return 0;
  const short = compactedText(result, keptOfResult);
  if (short.length >= result.text.length) return 0;
  const before = tokensOf(shownText(result));
  result.compacted = short;
  return before - tokensOf(short);
}

function messagesOf({ reply, results, nudge }: Turn): ModelMessage[] {
  const answers = results.map(
    (result, index): ModelMessage => ({
      role: 'tool',
      call_id: result.call.id,
      name: result.call.name,
      text: shownText(result),
      // Everything up to here is repeated in the next request, so providers may cache it.
      ...(index === results.length - 1 ? { stable: true } : {}),
    }),
  );
  return [reply, ...answers, ...(nudge === null ? [] : [{ role: 'user' as const, text: nudge }])];
}

function shownText({ text, state, compacted }: Turn['results'][number]): string {
  return compacted ?? (state === null ? text : `${text}\n\n[${state}]`);
}

function tokensOfAll(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => sum + messageTokens(message), 0);
}

/** The provider's own form of a message is sent instead of ours. */
function messageTokens(message: ModelMessage): number {
  return tokensOf(message.role === 'assistant' ? (message.provider ?? message) : message);
}

function tokensOf(value: unknown): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(value) ?? '') / bytesPerToken);
}
