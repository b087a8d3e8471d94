import { createHash, type Hash } from 'node:crypto';
import type { ModelMessage, ModelRequest, ModelTool } from '../schema/index.ts';
import { toolsText } from './shared-tools.ts';

/** The number of concurrent conversations: agents, actions that edit files, and those that summarise. */
const maxThreads = 4;
const noTools: ModelTool[] = [];

interface Known {
  messages: readonly ModelMessage[];
  texts: readonly string[];
  /** Over role and messages. */
  hash: Hash;
}

/**
 * Messages as JSON text and the hashes of requests, as by `requestHash`. Conversations grow from call to call: what a
 * request shares with the last one of its thread is neither serialised nor hashed again, see `NormalRequests`.
 */
export class RequestTexts {
  readonly #last = new Map<string, Known>();

  /** @param request a normal one, see `normalRequest` */
  of(request: ModelRequest, thread: string): { texts: readonly string[]; hash: string } {
    const { role, messages, tools = noTools, stop = [] } = request;
    const key = `${role} ${thread}`;
    const known = this.#last.get(key);
    const texts = messages.map((message, index) => {
      const text = message === known?.messages[index] ? known.texts[index] : undefined;
      return text ?? JSON.stringify(message);
    });
    const continued = known?.texts.every((text, index) => texts[index] === text) === true ? known : null;
    const hash = continued?.hash ?? createHash('sha256').update(`[${JSON.stringify(role)},[`);
    for (let index = continued?.texts.length ?? 0; index < texts.length; index++)
      hash.update(`${index === 0 ? '' : ','}${texts[index]}`);
    this.#remember(key, { messages, texts, hash });
    const rest = `],${toolsText(tools)},${JSON.stringify(stop)}]`;
    return { texts, hash: hash.copy().update(rest).digest('hex') };
  }

  #remember(key: string, known: Known): void {
    this.#last.delete(key);
    this.#last.set(key, known);
    const [oldest] = this.#last.keys();
    if (this.#last.size > maxThreads && oldest !== undefined) this.#last.delete(oldest);
  }
}
