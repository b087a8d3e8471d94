import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { basename } from 'node:path';
import { messageOf } from '../../lib/errors.ts';
import { listenToCallers } from '../../lib/open-to-readers.ts';
import type { ModelRequest } from '../../schema/index.ts';
import type { GatewayReply } from './caller.ts';
import { openaiModels } from './dialects/openai.ts';
import { readBody, sendJson } from './http-bodies.ts';
import { readToolChat, toolChatAnswer, toolChatError } from './tool-chat.ts';

/** Calls the gateway for a process. `closed`: no calls are allowed now. It rejects only if the harness is broken. */
export type AskForProcess = (
  request: ModelRequest,
  signal: AbortSignal,
) => Promise<GatewayReply | { kind: 'closed'; message: string }>;

const chatPath = '/v1/chat/completions';
const maxBodyBytes = 2 ** 20;
const maxConnections = 64;
/** The most calls in progress, and the most calls that may begin in a minute. */
const maxAtOnce = 4;
const maxPerMinute = 240;

/** The HTTP statuses of refusals. */
const statusOf = {
  over_budget: 402,
  bad_request: 400,
  closed: 409,
  no_model: 503,
  unavailable: 502,
  rate_limited: 429,
  not_found: 404,
  too_large: 413,
  internal: 500,
} as const;
const noModel = 'This run has no language model: nothing was asked. The task can be solved without one.';

/**
 * The gateway for tools of tasks: OpenAI's chat completions on a Unix socket, without a key. Its calls are like any
 * other calls of the run. `ProxyServer` serves whole programs.
 */
export class GatewayServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #name: string;
  readonly #ask: AskForProcess | undefined;
  readonly #closing = new AbortController();
  /** When the calls of the last minute began. */
  readonly #begun: number[] = [];
  readonly #underWay = new Set<Promise<void>>();
  /** The number of model calls in progress. */
  #asking = 0;
  #failure: string | null = null;

  private constructor(name: string, ask: AskForProcess | undefined) {
    this.#name = name;
    this.#ask = ask;
    this.#server = createServer({ requestTimeout: 30_000, maxHeaderSize: 2 ** 14 }, (request, response) => {
      const work = this.#serve(request, response).catch((error: unknown) => {
        this.#failure ??= messageOf(error);
        this.#refuse(response, 'internal', 'The harness could not answer.');
      });
      this.#underWay.add(work);
      void work.then(() => this.#underWay.delete(work));
    });
    this.#server.maxConnections = maxConnections;
  }

  /** @param ask absent: a process gets the answer that there is no model */
  static async listen(socket: string, ask: AskForProcess | undefined): Promise<GatewayServer> {
    const server = new GatewayServer(basename(socket, '.sock'), ask);
    await listenToCallers(server.#server, socket);
    return server;
  }

  /** Why the model could not answer through no fault of the process; null if it always could. */
  get failure(): string | null {
    return this.#failure;
  }

  /** Aborts calls in progress, and resolves when no more answers are sent. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('the service is closing'));
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await Promise.all(this.#underWay);
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url?.split('?', 1)[0] ?? '';
    if (request.method === 'GET' && path === '/v1/models') {
      sendJson(response, 200, openaiModels([this.#name]));
      return;
    }
    if (request.method !== 'POST' || path !== chatPath) {
      this.#refuse(response, 'not_found', `There is POST ${chatPath} and nothing else.`);
      return;
    }
    const body = await readBody(request, maxBodyBytes);
    if (body === 'gone') return;
    if (body === 'too_large')
      this.#refuse(response, 'too_large', `A request may have ${maxBodyBytes} bytes at most.`);
    else await this.#answer(body.toString('utf8'), response);
  }

  async #answer(body: string, response: ServerResponse): Promise<void> {
    if (this.#ask === undefined) {
      this.#refuse(response, 'no_model', noModel);
      return;
    }
    const asked = readToolChat(body);
    if ('problem' in asked) {
      this.#refuse(response, 'bad_request', asked.problem);
      return;
    }
    const waitSeconds = this.#secondsToWait();
    if (waitSeconds > 0) {
      const message = `At most ${maxAtOnce} calls at a time and ${maxPerMinute} a minute.`;
      this.#refuse(response, 'rate_limited', message, { 'retry-after': String(waitSeconds) });
      return;
    }
    const reply = await this.#askCounted(asked, this.#ask);
    if (reply.kind === 'answered') {
      const { status, body } = toolChatAnswer(this.#name, reply);
      sendJson(response, status, body);
    } else if (reply.kind === 'closed') this.#refuse(response, 'closed', reply.message);
    else this.#refuseFailed(response, reply);
  }

  /** Providers' messages may reveal the model, and are not passed on; they are in the run's trace. */
  #refuseFailed(response: ServerResponse, reply: Exclude<GatewayReply, { kind: 'answered' }>): void {
    if (reply.kind === 'over_quota' && reply.quota === 'own') {
      this.#refuse(response, 'over_budget', reply.message);
      return;
    }
    if (reply.kind === 'unavailable' && reply.error.failure === 'bad_request') {
      this.#refuse(response, 'bad_request', 'The language model does not take this request.');
      return;
    }
    // A quota used up by others is not the process's fault, and neither is a provider that is down.
    this.#failure ??= reply.kind === 'unavailable' ? reply.error.message : reply.message;
    if (reply.kind === 'unavailable')
      this.#refuse(response, 'unavailable', 'The language model does not answer.');
    else this.#refuse(response, 'over_budget', 'What all runs together may use has no room for this call.');
  }

  #refuse(
    response: ServerResponse,
    code: keyof typeof statusOf,
    message: string,
    headers: Record<string, string> = {},
  ): void {
    sendJson(response, statusOf[code], toolChatError(code, message), headers);
  }

  /** 0 if another call may begin now. */
  #secondsToWait(): number {
    const now = performance.now();
    while ((this.#begun[0] ?? now) < now - 60_000) this.#begun.shift();
    if (this.#asking >= maxAtOnce) return 1;
    const [oldest] = this.#begun;
    if (oldest === undefined || this.#begun.length < maxPerMinute) return 0;
    return Math.max(1, Math.ceil((oldest + 60_000 - now) / 1000));
  }

  async #askCounted(asked: ModelRequest, ask: AskForProcess): ReturnType<AskForProcess> {
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
}
