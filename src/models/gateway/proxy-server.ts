import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { z } from 'zod';
import { listenToCallers } from '../../lib/open-to-readers.ts';
import { isSameToken } from '../../lib/same-token.ts';
import { parseSmallJson } from '../../lib/shallow-json.ts';
import type { ModelRequest } from '../../schema/index.ts';
import { maxTokensOfBody } from '../estimate.ts';
import { mostThatCosts } from '../prices.ts';
import { CallQuotas } from './call-quotas.ts';
import type { Dialect, ErrorCode, ReadRequest, RequestText, Route } from './dialects/dialect.ts';
import { dialectOf } from './dialects/index.ts';
import { readBody, sendJson } from './http-bodies.ts';
import { withEdits } from './json-edits.ts';
import { mostOutput } from './output-limit.ts';
import { type CallWays, makeProxiedCall } from './proxied-call.ts';
import type { ProxiedCall } from './proxied-outcome.ts';
import type { ProxyOptions, ProxyRequest } from './proxy-options.ts';
import { UpstreamConnections } from './send-upstream.ts';
import { defaultSilenceMs } from './signs-of-life.ts';
import { withoutKeys } from './split-secrets.ts';
import type { UpstreamModel } from './upstream.ts';

/** The same limit as Anthropic's. */
const maxBodyBytes = 2 ** 25;
/** Texts, numbers, lists, … of a request: reading millions of them would keep all other runs waiting. */
const maxBodyValues = 2 ** 17;
/** The limit of all bodies that are being processed at the same time. */
const maxHeldBytes = 2 ** 28;
const defaultConnections = 256;
const defaultUnreadMs = 30_000;
const defaultReadOnMs = 10_000;

const serverOptions = { requestTimeout: 60_000, maxHeaderSize: 2 ** 16, insecureHTTPParser: false };

/** Where the server listens: a Unix socket, or a port of the loopback interface (0: any). */
export type ListenAt = { socket: string } | { port: number };

/** What a request's first line asks for. */
interface Found {
  dialect: Dialect;
  route: Route;
  path: string;
  query: string;
}

/** A request that passed the checks. */
interface Asked extends Found {
  /** The body without keys. */
  text: string;
  /** What it says, without keys. */
  read: ReadRequest;
  model: UpstreamModel;
  call: ProxiedCall;
}

/**
 * The gateway for whole programs, in the dialect of a provider. Their requests are forwarded to a provider with that
 * dialect, and its replies are passed back byte for byte. Each call is reserved, charged and recorded on the way. The
 * provider's key replaces the program's token here.
 */
export class ProxyServer implements AsyncDisposable {
  readonly #options: ProxyOptions;
  readonly #quotas: CallQuotas;
  readonly #server: Server;
  readonly #connections = new UpstreamConnections();
  readonly #closing = new AbortController();
  readonly #underWay = new Set<Promise<void>>();
  /** Requests are reported one after the other. */
  #told: Promise<unknown> = Promise.resolve();
  #requests = 0;
  #heldBytes = 0;

  private constructor(options: ProxyOptions) {
    this.#options = options;
    this.#quotas = new CallQuotas(options.quota, options.shared ?? null);
    this.#server = createServer(serverOptions, (request, response) => {
      const work = this.#serve(request, response).catch(() => {
        refuseWith(response, dialectOf('', request.headers), 'internal', 'The gateway could not answer.');
      });
      this.#underWay.add(work);
      void work.then(() => this.#underWay.delete(work));
    });
    this.#server.maxConnections = options.connections ?? defaultConnections;
    // Programs think for longer than five seconds between two requests on one connection.
    this.#server.keepAliveTimeout = 120_000;
  }

  static async listen(where: ListenAt, options: ProxyOptions): Promise<ProxyServer> {
    const server = new ProxyServer(options);
    if ('socket' in where) await listenToCallers(server.#server, where.socket);
    else await once(server.#server.listen(where.port, '127.0.0.1'), 'listening');
    return server;
  }

  /** The port, if it listens on one. */
  get port(): number | null {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : null;
  }

  /** Aborts calls in progress, which are charged and recorded, and resolves when no more answers are sent. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('the gateway is closing'));
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await Promise.all(this.#underWay);
    await closed;
    this.#connections[Symbol.dispose]();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = '', query = ''] = splitOnce(request.url ?? '', '?');
    const place = path.replace(/^(\/v1(?:beta|alpha)?)+(?=\/|$)/, '');
    const dialect = dialectOf(place, request.headers);
    const refuse = (code: ErrorCode, message: string) => refuseWith(response, dialect, code, message);
    if (request.method === 'HEAD' || (request.method === 'GET' && /^\/(api\/hello)?$/.test(path))) {
      response.writeHead(200).end();
      return;
    }
    if (!this.#isToken(request.headers, query)) {
      refuse(
        'unauthorised',
        "The API key of this request is not the gateway's token. Use the token as the key: mlab gateway prints it; in a run it is in the variables that the agent's program starts with.",
      );
      return;
    }
    if (request.method === 'GET' && place === '/models') {
      sendJson(response, 200, dialect.models(this.#options.upstream.names));
      return;
    }
    if (request.headers.upgrade !== undefined) {
      refuse('no_websocket', 'Responses are streamed as events here, by POST.');
      return;
    }
    const route = request.method === 'POST' ? dialect.route(place) : null;
    if (route === null) {
      refuse('not_found', `There is no ${request.method} ${path} here.`);
      return;
    }
    const declared = Number(request.headers['content-length'] ?? maxBodyBytes);
    if (this.#heldBytes + declared > maxHeldBytes) {
      refuse('rate_limited', 'Too much is on its way at once: send less, or wait for an answer.');
      return;
    }
    const held = Math.min(declared, maxBodyBytes);
    this.#heldBytes += held;
    try {
      await this.#serveBody({ dialect, route, path, query }, request, response);
    } finally {
      this.#heldBytes -= held;
    }
  }

  async #serveBody(found: Found, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { dialect } = found;
    const body = await readBody(request, maxBodyBytes);
    if (body === 'gone') return;
    if (body === 'too_large') {
      refuseWith(response, dialect, 'too_large', `A request may have ${maxBodyBytes} bytes at most.`);
      return;
    }
    const { 'content-encoding': encoding = 'identity' } = request.headers;
    if (encoding !== 'identity') {
      refuseWith(response, dialect, 'bad_request', `The body is compressed (${encoding}): send plain JSON.`);
      return;
    }
    const asked = this.#understood(found, body, request.rawHeaders);
    if ('problem' in asked) refuseWith(response, dialect, asked.code, asked.problem);
    else await this.#answer(asked, request, response);
  }

  #isToken(headers: IncomingHttpHeaders, query: string): boolean {
    const given = [
      headers['x-api-key'],
      headers['x-goog-api-key'],
      headers['api-key'],
      headers.authorization?.replace(/^Bearer\s+/i, ''),
      new URLSearchParams(query).get('key'),
    ].find((value) => typeof value === 'string' && value !== '');
    return typeof given === 'string' && isSameToken(given, this.#options.token);
  }

  #understood(
    { dialect, route, path, query }: Found,
    bytes: Buffer,
    headers: string[],
  ): Asked | { code: ErrorCode; problem: string } {
    const { upstream, serverTools = false, severalAnswers = false } = this.#options;
    const parsed = parsedBody(bytes);
    if (parsed === null)
      return {
        code: 'bad_request',
        problem: `The body is not a JSON object of at most ${maxBodyValues} values.`,
      };
    const read = dialect.read(parsed.body);
    const model = upstream.modelFor(dialect.name, route.model ?? read.model ?? '');
    if (model === null) {
      const problem =
        upstream.names.length === 0
          ? 'This run has no model: mlab run --model NAME gives it one.'
          : `This run's model is not reached by ${path}: it speaks ${upstream.dialects.join(' and ')}.`;
      return { code: 'not_found', problem };
    }
    const prepared = dialect.prepare(parsed, { model: model.name, serverTools });
    if ('problem' in prepared) return { code: 'bad_request', problem: prepared.problem };
    const { edits, hidesUsage } = prepared;
    const maxOutputTokens = mostOutput(read.limits, severalAnswers);
    if (typeof maxOutputTokens !== 'number') return { code: 'bad_request', ...maxOutputTokens };
    const body = edits.length === 0 ? bytes : Buffer.from(withEdits(parsed.text, edits));
    const sent = { method: 'POST', path: route.pathFor(model.name) + queryToSend(query), headers, body };
    const isStreaming = route.isStreaming ?? read.isStreaming;
    const call = { dialect, model, sent, isStreaming, hidesUsage, maxOutputTokens };
    const text = withoutKeys(parsed.text, model.context.redactor);
    const shown = text === parsed.text ? read : dialect.read(parsedBody(Buffer.from(text))?.body ?? {});
    return { dialect, route, path, query, text, read: shown, model, call };
  }

  async #answer(asked: Asked, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { dialect, call } = asked;
    const gone = new AbortController();
    response.once('close', () => gone.abort(new Error('the program closed the connection')));
    const over = AbortSignal.any([this.#closing.signal, this.#options.signal]);
    const { silenceMs = defaultSilenceMs, unreadMs = defaultUnreadMs } = this.#options;
    const { readOnMs = defaultReadOnMs } = this.#options;
    const ways = {
      ...{ response, connections: this.#connections, silenceMs, unreadMs, readOnMs },
      ...{ gone: gone.signal, over, onSent: this.#options.onSent },
    };
    if (asked.route.kind === 'count') {
      await makeProxiedCall(call, ways);
      return;
    }
    const described = this.#described(asked, request.headers);
    const decision = await this.#decide(described);
    if (decision.kind === 'closed') {
      refuseWith(response, dialect, 'closed', decision.message);
      return;
    }
    try {
      await this.#makeCall(asked, described, ways);
    } finally {
      this.#options.onEnd?.(described);
    }
  }

  /** Reserves, makes and records the call. */
  async #makeCall(asked: Asked, described: ProxyRequest, ways: CallWays): Promise<void> {
    const { dialect, model, call } = asked;
    const { response } = ways;
    const signal = AbortSignal.any([ways.gone, ways.over]);
    if (signal.aborted) return;
    const hasTools = asked.read.tools.length > 0;
    const input = maxTokensOfBody(call.sent.body.length, hasTools);
    const tokens = { input, output: call.maxOutputTokens };
    const money = model.price === null ? null : mostThatCosts(tokens, model.price);
    const most = { tokens: tokens.input + tokens.output, money };
    const onWait = this.#options.onWait ?? (() => {});
    const reserved = await this.#quotas.reserve(most, signal, onWait).catch(() => null);
    if (reserved === null) return;
    if ('kind' in reserved) {
      this.#options.onRefused?.(reserved);
      refuseWith(response, dialect, 'over_quota', `The quota is used up: ${reserved.message}.`);
      return;
    }
    using reservation = reserved;
    const outcome = await makeProxiedCall(call, { ...ways, onWait });
    reservation.settle(outcome);
    const { status, reply, ...told } = outcome;
    const wire = { dialect: dialect.name, path: asked.path, status, request: asked.text, response: reply };
    const settings = {
      ...model.settings,
      temperature: asked.read.temperature,
      max_output_tokens: call.maxOutputTokens,
    };
    this.#options.record?.({ ...told, request: described.request, settings, attempts: [], wire }, described);
  }

  #described({ dialect, path, read, model, route }: Asked, headers: IncomingHttpHeaders): ProxyRequest {
    this.#requests += 1;
    const { messages, tools, stop } = read;
    const request: ModelRequest = {
      role: model.role,
      purpose: tools.length === 0 ? 'answer without tools' : 'act',
      messages: messages.length === 0 ? [{ role: 'user', text: '' }] : messages,
      ...(tools.length === 0 ? {} : { tools }),
      ...(stop.length === 0 ? {} : { stop }),
    };
    const { authorization: _, 'x-api-key': _a, 'x-goog-api-key': _g, 'api-key': _k, ...shown } = headers;
    const asked = route.model ?? read.model;
    return {
      number: this.#requests,
      dialect: dialect.name,
      path,
      headers: shown,
      request,
      isForced: read.isForced,
      asked,
      model: model.settings.model,
    };
  }

  #decide(request: ProxyRequest): Promise<{ kind: 'send' } | { kind: 'closed'; message: string }> {
    const { onRequest } = this.#options;
    if (onRequest === undefined) return Promise.resolve({ kind: 'send' });
    const decided = this.#told.then(() => onRequest(request));
    this.#told = decided.catch(() => {});
    return decided;
  }
}

function refuseWith(response: ServerResponse, dialect: Dialect, code: ErrorCode, message: string): void {
  const { status, body } = dialect.error(code, message);
  // The clients of OpenAI and Anthropic respect this header, whatever the status.
  const forGood = !['rate_limited', 'unavailable', 'internal'].includes(code);
  sendJson(response, status, body, forGood ? { 'x-should-retry': 'false' } : {});
}

function parsedBody(bytes: Buffer): RequestText | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { text, body: z.record(z.string(), z.unknown()).parse(parseSmallJson(text, maxBodyValues)) };
  } catch {
    return null;
  }
}

/** The query without the program's key, and without parameters that choose a reply's fields, headers or the method. */
function queryToSend(query: string): string {
  const kept = query.split('&').filter((part) => {
    const [name = ''] = new URLSearchParams(part).keys();
    return name !== '' && !/^(key|access_token|\$?(fields|httpheaders|httpmethod))$/i.test(name);
  });
  return kept.length === 0 ? '' : `?${kept.join('&')}`;
}

function splitOnce(text: string, mark: string): string[] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
