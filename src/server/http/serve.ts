import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasCode, messageOf, UserError } from '../../lib/errors.ts';
import type { ViewerError } from '../../schema/index.ts';
import { Live } from '../live/live.ts';
import { isNotFound } from '../not-found.ts';
import { Viewer, type ViewerOptions } from '../viewer.ts';
import { safeHeaders, sendAnswer, sendBytes, type ViewerResponse } from './answer.ts';
import { type AccessRules, ownNames, refusalOf } from './guard.ts';
import { type PageFile, readPageFiles } from './page-files.ts';
import { answerTo } from './routes.ts';

export interface ServeOptions extends ViewerOptions {
  /** Default: 127.0.0.1. Any address that other machines can reach needs a token. */
  host?: string;
  /** 0: any that is free. */
  port: number;
  /** The built pages. */
  pages: string;
  /** Called for internal errors. */
  log: (line: string) => void;
}

export interface RunningViewer extends AsyncDisposable {
  /** The address to open, with the token if there is one. */
  url: string;
  port: number;
  token: string | null;
}

/** How long the list of experiments waits for experiments that are not read yet. */
const firstListMs = 350;
/** A request has some hundred bytes: a client that sends it more slowly only holds a connection. In milliseconds. */
const slowRequests = { headersTimeout: 10_000, requestTimeout: 20_000, connectionsCheckingInterval: 2_000 };
const maxConnections = 500;
const loopback = new Set(['127.0.0.1', 'localhost', '::1']);

/** @throws UserError `port_taken`, `bad_host` */
export async function serveViewer(options: ServeOptions): Promise<RunningViewer> {
  const live = new Live();
  const viewer = new Viewer(options, live.tell);
  live.start(viewer);
  // Findings are sent as live events; failures are retried at the next poll.
  viewer.catalogue.look().catch(() => {});
  const host = options.host ?? '127.0.0.1';
  const token = loopback.has(host) ? null : randomBytes(24).toString('base64url');
  const server = createServer(slowRequests);
  server.maxConnections = maxConnections;
  await listen(server, host, options.port);
  const { port } = addressOf(server);
  const access: AccessRules = {
    hosts: token === null ? ownNames(port) : null,
    token,
    cookie: `mlab_viewer_${port}`,
  };
  const parts: Parts = { viewer, live, access, pages: readPageFiles(options.pages), log: options.log };
  server.on('request', (request, response) => void handle(parts, request, response));
  const shownHost = host.includes(':') ? `[${host}]` : host;
  return {
    url: `http://${shownHost}:${port}/${token === null ? '' : `?token=${token}`}`,
    ...{ port, token },
    async [Symbol.asyncDispose]() {
      live[Symbol.dispose]();
      viewer[Symbol.dispose]();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

interface Parts {
  viewer: Viewer;
  live: Live;
  access: AccessRules;
  pages: ReadonlyMap<string, PageFile>;
  log: (line: string) => void;
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    if (hasCode(error, 'EADDRINUSE'))
      throw new UserError(
        'port_taken',
        `Port ${port} is in use.`,
        'Choose another port with --port, or 0 for any free port.',
        { cause: error },
      );
    throw new UserError(
      'bad_host',
      `Can't listen on ${host}, port ${port}: ${messageOf(error)}`,
      'Choose others with --host and --port.',
      { cause: error },
    );
  }
}

function addressOf(server: Server): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address;
}

async function handle(parts: Parts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort(new Error('nobody waits for it')));
  try {
    await answer(parts, request, response, gone.signal);
  } catch (error) {
    // The client has gone, or already got a part of the response: no error can be sent.
    if (gone.signal.aborted || response.headersSent) response.destroy();
    else await sendFailure(parts, request, response, error);
  }
}

async function answer(
  parts: Parts,
  request: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  // Only a path: not the address of another server, nor one that looks like it.
  const path = /^\/(?![/\\])/.test(request.url ?? '') ? request.url : undefined;
  const url = path === undefined ? null : URL.parse(path, 'http://viewer');
  if (url === null)
    throw new UserError(
      'bad_address',
      'This address is not well-formed.',
      'Go back to the list of experiments.',
    );
  const given = url.searchParams.get('token');
  const refused = refusalOf(request, parts.access, given);
  if (refused !== null) {
    const { status, ...json } = refused;
    await sendAnswer(request, response, { json, status });
  } else if (given !== null && parts.access.token !== null)
    keepToken(parts.access.cookie, parts.access.token, response);
  else if (url.pathname === '/api/live') connect(parts, url, request, response);
  else if (url.pathname.startsWith('/api/')) await answerData(parts, url, request, response, signal);
  else await sendPage(parts, url.pathname, request, response);
}

/**
 * Removes the token from the address, so that shared links don't contain it.
 * @param token our own: no byte of a request gets into a header
 */
function keepToken(cookie: string, token: string, response: ServerResponse): void {
  response.writeHead(303, {
    ...safeHeaders,
    location: '/',
    'set-cookie': `${cookie}=${token}; HttpOnly; SameSite=Lax; Path=/`,
    'cache-control': 'no-store',
  });
  response.end();
}

function connect(
  { live }: Parts,
  { searchParams }: URL,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const [experiment, run] = [searchParams.get('experiment'), searchParams.get('run')];
  const header = request.headers['last-event-id'];
  const lastId = typeof header === 'string' ? header : null;
  const watched = experiment !== null && run !== null ? { experiment, run } : null;
  if (live.isFull)
    throw new UserError('busy', 'Too many pages are open.', 'Close some of them, and reload this one.');
  live.connect(response, experiment, watched, lastId);
}

async function answerData(
  { viewer }: Parts,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
) {
  if (url.pathname === '/api/experiments') {
    // The list shows what is known by then; live events add the rest.
    await Promise.race([viewer.catalogue.look(), sleep(firstListMs, undefined, { ref: false })]);
  } else await viewer.catalogue.ready;
  await sendAnswer(request, response, await answerOrLookAgain(viewer, url, signal));
}

/** There may be new experiments since the last poll. */
async function answerOrLookAgain(viewer: Viewer, url: URL, signal: AbortSignal): Promise<ViewerResponse> {
  try {
    return await answerTo(viewer, url, signal);
  } catch (error) {
    if (!UserError.isInstance(error) || error.code !== 'unknown_experiment') throw error;
    await viewer.catalogue.look();
    return await answerTo(viewer, url, signal);
  }
}

async function sendPage(
  { pages }: Parts,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const page = pages.get(path);
  if (page === undefined) {
    const isBuilt = pages.size > 0;
    throw new UserError(
      isBuilt ? 'unknown_address' : 'no_pages',
      isBuilt ? 'There is nothing at this address.' : 'The pages of the viewer are not built.',
      isBuilt ? 'Go back to the list of experiments.' : 'Run: npm run build',
    );
  }
  const caching = page.lasts ? 'private, max-age=31536000, immutable' : 'no-cache';
  await sendBytes(
    request,
    response,
    200,
    { 'content-type': page.type, 'cache-control': caching },
    page.content,
  );
}

async function sendFailure(
  { log }: Parts,
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
): Promise<void> {
  const json: ViewerError = UserError.isInstance(error)
    ? { code: error.code, message: error.message, hint: error.hint }
    : {
        code: 'internal',
        message: 'The viewer failed to answer.',
        hint: 'This is a bug: please report it with what mlab view printed.',
      };
  if (!UserError.isInstance(error))
    log(`viewer: ${request.url ?? ''}: ${error instanceof Error ? (error.stack ?? '') : String(error)}`);
  await sendAnswer(request, response, { json, status: statusOf(error) });
}

function statusOf(error: unknown): number {
  if (!UserError.isInstance(error)) return 500;
  if (isNotFound(error)) return 404;
  if (error.code === 'busy') return 503;
  return error.code.startsWith('bad_') ? 400 : 500;
}
