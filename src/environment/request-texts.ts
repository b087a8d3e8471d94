import { createHash, type Hash } from 'node:crypto';
import type { ModelMessage, ModelRequest } from '../schema/index.ts';

/** As many conversations as are led at a time: agents, actions that edit files, and those that summarise. */
const mostThreads = 4;

interface Known {
  messages: readonly ModelMessage[];
  texts: readonly string[];
  /** Over role and messages. */
  hash: Hash;
}

/**
 * Messages as JSON text and the hashes of requests, as `requestHash` gives them. Conversations grow from call to call: what a
 * request has in common with the last one of its thread is neither written nor hashed again.
 */
export class RequestTexts {
  readonly #last = new Map<string, Known>();

  /** @param request a normal one, see `normalRequest` */
  of(request: ModelRequest, thread: string): { texts: readonly string[]; hash: string } {
    const { role, messages, tools = [], stop = [] } = request;
    const key = `${role} ${thread}`;
    const known = this.#last.get(key);
    const texts = messages.map((message, index) => textOf(message, index, known));
    const continued = known?.texts.every((text, index) => texts[index] === text) === true ? known : null;
    const hash = continued?.hash.copy() ?? createHash('sha256').update(`[${JSON.stringify(role)},[`);
    for (let index = continued?.texts.length ?? 0; index < texts.length; index++)
      hash.update(`${index === 0 ? '' : ','}${texts[index]}`);
    this.#remember(key, { messages, texts, hash: hash.copy() });
    const rest = `],${JSON.stringify(tools)},${JSON.stringify(stop)}]`;
    return { texts, hash: hash.update(rest).digest('hex') };
  }

  #remember(key: string, known: Known): void {
    this.#last.delete(key);
    this.#last.set(key, known);
    const [oldest] = this.#last.keys();
    if (this.#last.size > mostThreads && oldest !== undefined) this.#last.delete(oldest);
  }
}

function textOf(message: ModelMessage, index: number, known: Known | undefined): string {
  const before = known?.messages[index];
  const text = known?.texts[index];
  if (before === undefined || text === undefined || !isSame(before, message)) return JSON.stringify(message);
  return text;
}

/** Whether both are surely the same; what models said is not looked at that closely. */
function isSame(one: ModelMessage, other: ModelMessage): boolean {
  if (one.role !== other.role || one.text !== other.text) return false;
  if (one.role === 'assistant' || other.role === 'assistant') return isPlain(one) && isPlain(other);
  if (one.stable !== other.stable) return false;
  if (one.role !== 'tool' || other.role !== 'tool') return true;
  return one.call_id === other.call_id && one.name === other.name;
}

function isPlain(message: ModelMessage): boolean {
  return message.role === 'assistant' && message.tool_calls === undefined && message.provider === undefined;
}
