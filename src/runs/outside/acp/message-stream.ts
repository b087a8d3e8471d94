import type { Stream } from '@agentclientprotocol/sdk';
import { z } from 'zod';
import { plainLine } from '../../../lib/plain-line.ts';
import { parseSmallJson } from '../../../lib/shallow-json.ts';
import type { SandboxProcess } from '../../../sandbox/index.ts';
import { AgentFailed } from '../../agents/agent-process.ts';
import { LineQueue } from '../../agents/line-queue.ts';

/** In characters. Agents include pictures and whole files. */
const longestLine = 16 * 2 ** 20;
/** In one message. */
const maxValues = 2 ** 20;
/**
 * What an agent may write between two answers of its model, which are limited. Everything that it writes costs the
 * harness time.
 */
const maxCharacters = 64 * 2 ** 20;
const maxMessages = 100_000;
/** The limit of unread requests and answers to it. */
const maxUnreadBytes = 16 * 2 ** 20;

const Id = z.union([z.string().max(200), z.number(), z.null()]);
const version = { jsonrpc: z.literal('2.0') };
const call = { ...version, method: z.string().max(200), params: z.unknown().optional() };
const Request = z.object({ ...call, id: Id });
const Notification = z.object(call);
const Failure = z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() });
const Answered = z.object({ ...version, id: Id, result: z.unknown() });
const Failed = z.object({ ...version, id: Id, error: Failure });
const Message = z.union([Request, Notification, Failed, Answered]);
type Message = z.infer<typeof Message>;

/** Handles what an agent writes that is neither a request nor an answer. */
export interface OtherOutput {
  notified(method: string, params: unknown): void;
  printed(text: string): void;
}

/**
 * The messages of an agent, one per line of its output. The protocol's library only gets requests and answers that it
 * can handle, and no more than it can take. Everything else counts as printed output.
 */
export class MessageStream {
  readonly #lines = new LineQueue(longestLine);
  readonly #aside: OtherOutput;
  /** The ids of requests that the agent has not answered. */
  readonly #open = new Set<unknown>();
  #characters = 0;
  #messages = 0;

  constructor(aside: OtherOutput) {
    this.#aside = aside;
  }

  add(chunk: Buffer): void {
    this.#characters += chunk.length;
    if (this.#characters > maxCharacters) {
      this.end(`It wrote more than ${maxCharacters / 2 ** 20} MiB without an answer of its model.`);
    } else this.#lines.add(chunk);
  }

  /**
   * No more messages will come.
   * @param why as a sentence
   */
  end(why: string): void {
    this.#lines.end(why);
  }

  /** Its model has answered, so it may write as much again. */
  renew(): void {
    this.#characters = 0;
    this.#messages = 0;
  }

  /** @param process that reads what is sent. Reading rejects with AgentFailed, or as the signal does. */
  stream(process: Pick<SandboxProcess, 'write' | 'unreadBytes'>, signal: AbortSignal): Stream {
    return {
      readable: new ReadableStream({ pull: async (to) => to.enqueue(await this.#next(signal)) }),
      writable: new WritableStream({
        write: (message) => {
          if ('method' in message && 'id' in message) this.#open.add(message.id);
          if (process.unreadBytes > maxUnreadBytes)
            this.end(`It has not read ${maxUnreadBytes / 2 ** 20} MiB of what it was sent.`);
          else process.write(`${JSON.stringify(message)}\n`);
        },
      }),
    };
  }

  /** After its end, the rest of its output counts as printed, unless it is a message. */
  async close(): Promise<void> {
    const never = new AbortController().signal;
    for (;;) {
      const next = await this.#lines.next(never);
      if ('end' in next) return;
      if (!looksLikeMessage(next.line)) this.#aside.printed(`${next.line}\n`);
    }
  }

  async #next(signal: AbortSignal): Promise<Message> {
    for (;;) {
      const next = await this.#lines.next(signal);
      if ('end' in next) throw new AgentFailed(next.end);
      const message = this.#read(next.line);
      if (message === null) continue;
      this.#messages += 1;
      if (this.#messages > maxMessages)
        throw new AgentFailed(`It wrote more than ${maxMessages} messages without an answer of its model.`);
      if ('method' in message && !('id' in message)) this.#aside.notified(message.method, message.params);
      // An answer to an unknown request is ignored.
      else if ('method' in message || this.#open.delete(message.id)) return message;
    }
  }

  #read(line: string): Message | null {
    if (line.trim() === '') return null;
    let problem = 'it is no JSON';
    try {
      const message = Message.safeParse(parseSmallJson(line, maxValues));
      if (message.success) return message.data;
      problem = 'no kind of message has such fields';
    } catch (error) {
      if (error instanceof SyntaxError) problem = error.message;
    }
    if (looksLikeMessage(line))
      throw new AgentFailed(`It wrote a message that can't be read (${problem}): ${plainLine(line, 300)}`);
    this.#aside.printed(`${line}\n`);
    return null;
  }
}

function looksLikeMessage(line: string): boolean {
  return /^\s*[{[].*"jsonrpc"/.test(line.slice(0, 1_000));
}
