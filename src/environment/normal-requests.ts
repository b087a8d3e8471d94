import { z } from 'zod';
import { isJsonObject } from '../lib/json-values.ts';
import { ModelMessage, ModelRequest } from '../schema/index.ts';
import { sharedTools } from './shared-tools.ts';

/** The number of concurrent conversations: agents, actions that edit files, and those that summarise. */
const maxThreads = 4;

/**
 * Requests in the form of `normalRequest`. Conversations grow from call to call, so whatever a request shares with the
 * last one of its thread becomes the same object again. It is not parsed again, and users that compare objects need not
 * measure or serialise it again.
 */
export class NormalRequests {
  readonly #last = new Map<string, readonly ModelMessage[]>();

  /** @throws TypeError saying what is wrong with it */
  of(request: ModelRequest): ModelRequest {
    try {
      return this.#parsed(request);
    } catch (error) {
      if (!(error instanceof z.ZodError)) throw error;
      const problem = z.prettifyError(error).replaceAll(/\s+/g, ' ');
      throw new TypeError(`This is no request to a model: ${problem}.`, { cause: error });
    }
  }

  #parsed(request: ModelRequest): ModelRequest {
    // The other fields are short.
    const { messages: given, tools: givenTools, ...rest } = request;
    const thread = `${rest.role} ${rest.purpose}`;
    const known = this.#last.get(thread);
    // Copies: the agent may change what it gave.
    if (known === undefined || !Array.isArray(given)) {
      const { tools, ...parsed } = ModelRequest.parse(request);
      return this.#remember(thread, {
        ...structuredClone(parsed),
        ...(tools && { tools: sharedTools(tools) }),
      });
    }
    const messages = given.map((message, index) => {
      const before = known[index];
      const isKnown = before !== undefined && isSame(before, message);
      return isKnown ? before : structuredClone(ModelMessage.parse(message));
    });
    const { role, purpose, stop } = ModelRequest.parse({ ...rest, messages: messages.slice(0, 1) });
    const normal: ModelRequest = {
      ...{ role, purpose, messages },
      ...(givenTools === undefined ? {} : { tools: sharedTools(givenTools) }),
      ...(stop === undefined ? {} : { stop }),
    };
    return this.#remember(thread, normal);
  }

  #remember(thread: string, normal: ModelRequest): ModelRequest {
    this.#last.delete(thread);
    this.#last.set(thread, normal.messages);
    const [oldest] = this.#last.keys();
    if (this.#last.size > maxThreads && oldest !== undefined) this.#last.delete(oldest);
    return normal;
  }
}

/** Whether parsing a message would give this one again. */
function isSame(normal: ModelMessage, given: ModelMessage): boolean {
  if (normal.role !== given?.role || normal.text !== given.text) return false;
  if (normal.role === 'assistant') {
    if (given.role !== 'assistant') return false;
    return isSameJson(normal.tool_calls, given.tool_calls) && isSameJson(normal.provider, given.provider);
  }
  if (given.role === 'assistant' || normal.stable !== given.stable) return false;
  if (normal.role !== 'tool') return true;
  return given.role === 'tool' && normal.call_id === given.call_id && normal.name === given.name;
}

/** Whether both are the same JSON, with keys in the same order: the hash of a request depends on it. */
function isSameJson(normal: unknown, given: unknown): boolean {
  if (Array.isArray(normal) && Array.isArray(given))
    return normal.length === given.length && normal.every((item, index) => isSameJson(item, given[index]));
  if (!isJsonObject(normal) || !isJsonObject(given)) return normal === given;
  const keys = Object.keys(normal);
  const givenKeys = Object.keys(given);
  if (keys.length !== givenKeys.length) return false;
  return keys.every((key, index) => key === givenKeys[index] && isSameJson(normal[key], given[key]));
}
