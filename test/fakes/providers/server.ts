import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { anthropic } from './anthropic.ts';
import { chatCompletions } from './chat-completions.ts';
import { type Fault, type FaultPlan, faultsInOrder } from './faults.ts';
import { google } from './google.ts';
import { type CompleteReply, completeReply, type FakeReply, type Format } from './reply.ts';
import { responses } from './responses.ts';

/** The URL of each provider on the server: for use as its base URL. */
export interface BaseUrls {
  anthropic: string;
  openai: string;
  google: string;
  'openai-compatible': string;
}

export type FormatName = 'anthropic' | 'responses' | 'chat' | 'google' | 'compatible';

const formats: readonly { name: FormatName; format: Format }[] = [
  { name: 'anthropic', format: anthropic },
  { name: 'responses', format: responses },
  { name: 'chat', format: chatCompletions('/openai/v1/chat/completions', { hasRefusals: true }) },
  { name: 'google', format: google },
  { name: 'compatible', format: chatCompletions('/compatible/v1/chat/completions', { hasRefusals: false }) },
];

/** A received request. */
export interface SeenRequest {
  /** From 1, in order of arrival. */
  number: number;
  format: FormatName;
  path: string;
  model: string;
  isStreaming: boolean;
  headers: IncomingHttpHeaders;
  /** The key in the request; null if there was none. */
  key: string | null;
  body: unknown;
}

export interface ProviderServerOptions {
  /** The model's answer; default: `Hello.` */
  answer?: (request: SeenRequest) => FakeReply | Promise<FakeReply>;
  faults?: readonly Fault[] | FaultPlan;
  /** The delay before the headers of every reply, in milliseconds. */
  latencyMs?: number;
  /** The address that it listens on; default: this machine only. */
  address?: string;
}

/** A local server that speaks the formats of the real providers. */
export interface ProviderServer extends AsyncDisposable {
  url: string;
  baseUrls: BaseUrls;
  requests: SeenRequest[];
  /** The most requests that were open at the same time. */
  readonly peak: number;
  /** The same for each format. */
  readonly peaks: ReadonlyMap<FormatName, number>;
  /** The number of requests with a fault. */
  readonly faulty: number;
}

export async function startProviderServer(options: ProviderServerOptions = {}): Promise<ProviderServer> {
  const requests: SeenRequest[] = [];
  const counts = { open: 0, peak: 0, faulty: 0 };
  const plan = typeof options.faults === 'function' ? options.faults : faultsInOrder(options.faults ?? []);
  const closing = new AbortController();
  const formatsOpen = new OpenByFormat();

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    counts.open++;
    counts.peak = Math.max(counts.peak, counts.open);
    response.once('close', () => counts.open--);
    const arrived = await readRequest(request);
    const beside = arrived === null ? besideAnswers(request.url ?? '') : null;
    if (beside !== null) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(beside));
      return;
    }
    if (arrived === null) {
      response
        .writeHead(404, { 'content-type': 'text/html' })
        .end('<html><title>404</title>No such page</html>');
      return;
    }
    const seen = { ...arrived.seen, number: requests.length + 1 };
    requests.push(seen);
    formatsOpen.open(seen.format, response);
    const fault = plan(seen.number);
    if (fault !== null) counts.faulty++;
    if (options.latencyMs !== undefined) await sleep(options.latencyMs, null, { signal: closing.signal });
    if (fault?.kind === 'slow-headers') await sleep(fault.ms, null, { signal: closing.signal });
    const described =
      fault?.kind === 'empty-answer' ? {} : await (options.answer?.(seen) ?? { text: 'Hello.' });
    await answer(arrived, completeReply(described, seen.model), fault, response);
  };

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      // A bug in the test appears as an error of the server, with its reason.
      if (!closing.signal.aborted && !response.headersSent) response.writeHead(500).end(String(error));
      else response.destroy();
    });
  });
  const { address: host = '127.0.0.1' } = options;
  server.listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  const url = `http://${host}:${typeof address === 'object' && address !== null ? address.port : 0}`;
  return {
    url,
    baseUrls: {
      anthropic: `${url}/anthropic/v1`,
      openai: `${url}/openai/v1`,
      google: `${url}/google/v1beta`,
      'openai-compatible': `${url}/compatible/v1`,
    },
    requests,
    get peak() {
      return counts.peak;
    },
    peaks: formatsOpen.peaks,
    get faulty() {
      return counts.faulty;
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/**
 * Counts the open requests of each format. It counts after a turn of the event loop: requests that a client aborted
 * before it sent this one are closed by then, in whatever order the system reported that.
 */
class OpenByFormat {
  readonly peaks = new Map<FormatName, number>();
  readonly #open = new Map<FormatName, number>();

  open(format: FormatName, response: ServerResponse): void {
    this.#change(format, 1);
    response.once('close', () => this.#change(format, -1));
    const look = () =>
      this.peaks.set(format, Math.max(this.#open.get(format) ?? 0, this.peaks.get(format) ?? 0));
    setImmediate(() => setImmediate(look));
  }

  #change(format: FormatName, by: number): void {
    this.#open.set(format, (this.#open.get(format) ?? 0) + by);
  }
}

interface Arrived {
  seen: Omit<SeenRequest, 'number'>;
  format: Format;
}

async function readRequest(request: IncomingMessage): Promise<Arrived | null> {
  const body: unknown = JSON.parse((await text(request)) || 'null');
  const { headers, url: path = '' } = request;
  for (const { name, format } of formats) {
    const read = format.read(path, body);
    if (read !== null)
      return { seen: { format: name, path, ...read, headers, key: keyOf(headers), body }, format };
  }
  return null;
}

/** What providers report without asking a model: the number of tokens of a request, and the available models. */
function besideAnswers(url: string): object | null {
  const path = url.replace(/\?.*$/, '');
  if (path.endsWith('/messages/count_tokens')) return { input_tokens: 100 };
  if (path.endsWith('/responses/input_tokens')) return { object: 'response.input_tokens', input_tokens: 100 };
  if (path.endsWith(':countTokens')) return { totalTokens: 100 };
  if (path.endsWith('/models')) return { object: 'list', data: [], models: [] };
  return null;
}

function keyOf(headers: IncomingHttpHeaders): string | null {
  const key =
    headers['x-api-key'] ?? headers['x-goog-api-key'] ?? headers.authorization?.replace(/^Bearer /, '');
  return typeof key === 'string' ? key : null;
}

async function answer(
  { format, seen: { isStreaming } }: Arrived,
  reply: CompleteReply,
  fault: Fault | null,
  response: ServerResponse,
): Promise<void> {
  if (fault?.kind === 'status' || (fault?.kind === 'overload-mid-stream' && !isStreaming)) {
    const status = fault.kind === 'status' ? fault.status : 503;
    const given =
      fault.kind === 'status' ? fault : { message: undefined, body: undefined, headers: undefined };
    const body = given.body ?? format.error(status, given.message ?? `fault ${status}`);
    response.writeHead(status, { 'content-type': 'application/json', ...given.headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
    return;
  }
  if (fault?.kind === 'reset') {
    response.destroy();
    return;
  }
  const type = isStreaming ? 'text/event-stream' : 'application/json';
  response.writeHead(200, { 'content-type': type });
  const chunks = isStreaming ? format.events(reply) : halves(JSON.stringify(format.json(reply)));
  await writeChunks(response, fault, chunks, format);
}

async function writeChunks(
  response: ServerResponse,
  fault: Fault | null,
  chunks: string[],
  format: Format,
): Promise<void> {
  const half = chunks.slice(0, Math.ceil(chunks.length / 2));
  switch (fault?.kind) {
    case 'wrong-json':
      response.end('data: {"id": nonsense,,\n\n');
      return;
    case 'other-schema':
      response.end('{"status":"ok","hello":["world"]}');
      return;
    case 'empty-body':
      response.end();
      return;
    case 'overload-mid-stream':
      response.end([...half, format.overloadEvent()].join(''));
      return;
    case 'end-early':
      response.end(half.join(''));
      return;
    case 'stall':
      response.write(half.join(''));
      return;
    case 'cut':
      response.write(half.join(''));
      // So that the first half is sent before the connection is closed.
      await sleep(10);
      response.destroy();
      return;
    default:
      for (const chunk of chunks) response.write(chunk);
      response.end();
  }
}

function halves(body: string): string[] {
  const middle = Math.floor(body.length / 2);
  return [body.slice(0, middle), body.slice(middle)];
}
