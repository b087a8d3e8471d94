import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { basename } from 'node:path';
import { messageOf } from '../lib/errors.ts';
import { openToCallers } from '../lib/open-to-readers.ts';
import type { CallCharge, ModelRequest, Spent, ToolReply } from '../schema/index.ts';
import { chatAnswer, chatError, readChatRequest } from './chat-format.ts';

/** Answers a tool that an agent built. What stands in its way is a reply; it rejects only where the harness is broken. */
export type AskForTool = (request: ModelRequest, signal: AbortSignal) => Promise<ToolReply>;

const mostBodyBytes = 2 ** 20;
const mostConnections = 64;
/** Calls under way at a time, and calls begun in a minute. */
const mostAtOnce = 4;
const mostPerMinute = 240;

const statusOf = {
  over_budget: 402,
  bad_request: 400,
  closed: 409,
  no_model: 503,
  unavailable: 502,
} as const;
/** What providers say may tell which model it is; the run's trace has it. */
const unsaid = {
  bad_request: 'The language model does not take this request.',
  unavailable: 'The language model does not answer.',
  context_too_long: 'The request has more tokens than the language model reads.',
};
const noModel = 'This run has no language model: nothing was asked. The task can be solved without one.';

/** A language model for tools: OpenAI's chat completions on a Unix socket, metered, without a key. */
export class ModelEndpoint implements AsyncDisposable {
  readonly #server: Server;
  readonly #name: string;
  readonly #ask: AskForTool | undefined;
  readonly #closing = new AbortController();
  /** When the calls of the last minute began. */
  readonly #begun: number[] = [];
  readonly #underWay = new Set<Promise<void>>();
  /** Calls of the model under way. */
  #asking = 0;
  #used: Spent = { calls: 0, tokens: 0, money: 0, unpriced: 0 };
  #failure: string | null = null;

  private constructor(name: string, ask: AskForTool | undefined) {
    this.#name = name;
    this.#ask = ask;
    this.#server = createServer({ requestTimeout: 30_000, maxHeaderSize: 2 ** 14 }, (request, response) => {
      const work = this.#serve(request, response).catch((error: unknown) => {
        this.#failure ??= messageOf(error);
        send(response, 500, chatError('internal', 'The harness could not answer.'));
      });
      this.#underWay.add(work);
      void work.then(() => this.#underWay.delete(work));
    });
    this.#server.maxConnections = mostConnections;
  }

  static async listen(socket: string, ask: AskForTool | undefined): Promise<ModelEndpoint> {
    const endpoint = new ModelEndpoint(basename(socket, '.sock'), ask);
    const listening = Promise.withResolvers<void>();
    endpoint.#server.once('error', listening.reject);
    endpoint.#server.listen(socket, listening.resolve);
    await listening.promise;
    openToCallers(socket);
    return endpoint;
  }

  /** What was answered here, and what else was paid for. */
  get used(): Spent {
    return { ...this.#used };
  }

  /** Why the model could not answer, where that was not the tool's doing; null when it always could. */
  get failure(): string | null {
    return this.#failure;
  }

  /** Gives up calls under way, and resolves when nothing is answered any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('the service is closing'));
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await Promise.all(this.#underWay);
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url?.split('?', 1)[0];
    if (request.method === 'GET' && path === '/v1/models') {
      send(response, 200, { object: 'list', data: [{ id: this.#name, object: 'model', owned_by: 'mlab' }] });
      return;
    }
    if (request.method !== 'POST' || path !== '/v1/chat/completions') {
      send(response, 404, chatError('not_found', 'There is POST /v1/chat/completions and nothing else.'));
      return;
    }
    const body = await bodyOf(request);
    if (body === 'gone') return;
    if (body === 'too_large') {
      send(response, 413, chatError('too_large', `A request may have ${mostBodyBytes} bytes at most.`));
      return;
    }
    await this.#answer(body.toString('utf8'), response);
  }

  async #answer(body: string, response: ServerResponse): Promise<void> {
    if (this.#ask === undefined) {
      send(response, statusOf.no_model, chatError('no_model', noModel));
      return;
    }
    const asked = readChatRequest(body);
    if ('problem' in asked) {
      send(response, statusOf.bad_request, chatError('bad_request', asked.problem));
      return;
    }
    const waitSeconds = this.#secondsToWait();
    if (waitSeconds > 0) {
      const message = `At most ${mostAtOnce} calls at a time and ${mostPerMinute} a minute.`;
      send(response, 429, chatError('rate_limited', message), { 'retry-after': String(waitSeconds) });
      return;
    }
    const reply = await this.#askCounted(asked, this.#ask);
    if (reply.kind === 'answer') this.#count(reply, 1);
    else if (reply.charge !== undefined) this.#count(reply.charge, 0);
    if (reply.kind === 'answer') {
      if (reply.answer.kind === 'context_too_long') {
        send(response, 400, chatError('context_length_exceeded', unsaid.context_too_long));
        return;
      }
      send(response, 200, chatAnswer(this.#name, reply.answer, reply.usage));
      return;
    }
    if (reply.kind === 'unavailable') this.#failure ??= reply.message;
    const { kind } = reply;
    const message = kind === 'bad_request' || kind === 'unavailable' ? unsaid[kind] : reply.message;
    send(response, statusOf[reply.kind], chatError(reply.kind, message));
  }

  /** 0 where another call may begin now. */
  #secondsToWait(): number {
    const now = performance.now();
    while ((this.#begun[0] ?? now) < now - 60_000) this.#begun.shift();
    if (this.#asking >= mostAtOnce) return 1;
    const [oldest] = this.#begun;
    if (oldest === undefined || this.#begun.length < mostPerMinute) return 0;
    return Math.max(1, Math.ceil((oldest + 60_000 - now) / 1000));
  }

  async #askCounted(asked: ModelRequest, ask: AskForTool): Promise<ToolReply> {
    this.#begun.push(performance.now());
    this.#asking += 1;
    try {
      return await ask(asked, this.#closing.signal);
    } catch (error) {
      if (!this.#closing.signal.aborted) throw error;
      return { kind: 'closed', message: 'The service is closing.' };
    } finally {
      this.#asking -= 1;
    }
  }

  #count({ usage, cost }: CallCharge, answers: number): void {
    const { calls, tokens, money, unpriced } = this.#used;
    this.#used = {
      calls: calls + answers,
      tokens: tokens + usage.input + usage.output,
      money: money + (cost ?? 0),
      unpriced: unpriced + (cost === null ? 1 : 0),
    };
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer | 'too_large' | 'gone'> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of request) {
      bytes += (part as Buffer).length;
      // What is too large is read to its end and dropped, so that the answer arrives.
      if (bytes <= mostBodyBytes) parts.push(part as Buffer);
      else if (bytes > 8 * mostBodyBytes) return 'gone';
    }
  } catch {
    return 'gone';
  }
  return bytes > mostBodyBytes ? 'too_large' : Buffer.concat(parts);
}

function send(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
