import { lastLines } from '../../lib/last-lines.ts';
import { plainLine } from '../../lib/plain-line.ts';
import { parseSmallJson } from '../../lib/shallow-json.ts';
import type { ProcessEnd, Sandbox, SandboxProcess } from '../../sandbox/index.ts';
import { RpcLine, type RpcRequest } from '../../schema/index.ts';
import { LineQueue } from './line-queue.ts';

/** Of its other output, this much of the end is part of the message of a failure. */
const maxOutputShown = 4_000;
/** In one message: a million values take some hundred megabytes. */
const maxValues = 2 ** 20;
/** The limit of unread answers when it sends another request. */
const maxUnreadBytes = 64 * 2 ** 20;

export type RpcAnswer = { result: unknown } | { error: { code: number; message: string } };

/** Handles what an agent sends while it answers a request. */
export interface AgentRequests {
  /** Answers requests that were sent together, in the same order. */
  answer(requests: readonly RpcRequest[]): Promise<readonly RpcAnswer[]>;
  /** @throws AgentFailed if it is invalid */
  notified(method: string, params: unknown): void;
}

/** A fault of an agent's process: it ended, was silent, failed, or wrote an invalid message. */
export class AgentFailed extends Error {
  override readonly name = 'AgentFailed';
}

/** A process that speaks docs/agent-protocol.md: JSON-RPC, one message per line. Closing it kills it. */
export class AgentProcess implements AsyncDisposable {
  readonly #process: SandboxProcess;
  readonly #lines: LineQueue;
  #output = '';
  #requests = 0;

  private constructor(process: SandboxProcess, lines: LineQueue) {
    this.#process = process;
    this.#lines = lines;
    void process.ended.then((end) => lines.end(`It ended by itself (${howItEnded(end)}).`));
  }

  static async start(sandbox: Sandbox, argv: readonly [string, ...string[]]): Promise<AgentProcess> {
    const lines = new LineQueue();
    const process = await sandbox.start(argv, {
      stdin: 'pipe',
      onOutput: (chunk) => lines.add(chunk),
      timeoutMs: null,
      signal: null,
    });
    return new AgentProcess(process, lines);
  }

  /**
   * Sends a request, and serves the process's own requests until the answer comes.
   * @throws AgentFailed; the signal's reason if it is aborted
   */
  async request(method: string, params: unknown, talk: AgentRequests, signal: AbortSignal): Promise<unknown> {
    this.#requests += 1;
    const id = this.#requests;
    this.#write({ jsonrpc: '2.0', id, method, params });
    while (true) {
      const next = await this.#lines.next(signal);
      if ('end' in next) throw this.failed(next.end);
      const message = this.#read(next.line);
      switch (message?.kind) {
        case 'requests': {
          if (this.#process.unreadBytes > maxUnreadBytes)
            throw this.failed(`It asks for more and has not read ${maxUnreadBytes} bytes of answers.`);
          const answers = await talk.answer(message.requests);
          const replies = message.requests.map((asked, index) => ({
            ...{ jsonrpc: '2.0', id: asked.id },
            ...answers[index],
          }));
          this.#write(message.isList ? replies : replies[0]);
          break;
        }
        case 'notification':
          if (message.method === 'log') this.#keep(logged(message.params));
          else talk.notified(message.method, message.params);
          break;
        case 'failure':
          throw this.failed(message.error.message);
        case 'result':
          if (message.id === id) return message.result;
          throw this.failed(`It answered the request ${message.id}, which is not open.`);
      }
    }
  }

  /** Adds its last output, which is the most informative. */
  failed(what: string): AgentFailed {
    const { printed } = this;
    return new AgentFailed(printed === '' ? what : `${what}\nIt printed last:\n${printed}`);
  }

  /** The last lines that it printed. */
  get printed(): string {
    return lastLines(this.#output, maxOutputShown);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.kill();
  }

  /** Null for output that is not a message. */
  #read(line: string): RpcLine | null {
    const looksLikeOne = /^\s*[{[].*"jsonrpc"/.test(line.slice(0, 1_000));
    let problem = 'it is no JSON';
    try {
      const message = RpcLine.safeParse(parseSmallJson(line, maxValues));
      if (message.success) return message.data;
      problem = 'no kind of message has such fields';
    } catch (error) {
      if (error instanceof SyntaxError) problem = error.message;
    }
    if (looksLikeOne)
      throw this.failed(`It wrote a message that can't be read (${problem}): ${plainLine(line, 300)}`);
    this.#keep(`${line}\n`);
    return null;
  }

  #keep(text: string): void {
    this.#output = (this.#output + text).slice(-2 * maxOutputShown);
  }

  #write(message: unknown): void {
    this.#process.write(`${JSON.stringify(message)}\n`);
  }
}

function logged(params: unknown): string {
  const text = typeof params === 'object' && params !== null && 'text' in params ? params.text : null;
  return typeof text === 'string' ? text : '';
}

function howItEnded({ ending, exitCode, signal }: ProcessEnd): string {
  if (ending === 'out_of_memory') return 'it needed more memory than it may have';
  return signal === null ? `exit code ${exitCode}` : `signal ${signal}`;
}
