import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  type McpServerFactory,
  originValidationResponse,
} from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { UserError } from '../../lib/errors.ts';

/** Large enough for files, which are written through arguments. */
const maxBytes = 64 * 2 ** 20;

const partingMs = 200;

export interface Served extends AsyncDisposable {
  /** Resolves when no more clients can connect. */
  closed: Promise<void>;
}

/** Serves one client on this process's standard input and output. */
export function serveOnStandardStreams(factory: McpServerFactory): Served {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  process.stdin.once('end', resolve);
  process.stdin.once('close', resolve);
  const transport = new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: maxBytes });
  const handle = serveStdio(factory, { transport });
  return { closed, [Symbol.asyncDispose]: () => handle.close() };
}

/**
 * Serves clients on this machine by streamable HTTP.
 * @param port 0: any free port
 * @throws UserError if the port is taken
 */
export async function serveByHttp(
  factory: McpServerFactory,
  port: number,
): Promise<Served & { url: string }> {
  const handler = createMcpHandler(factory);
  // Other users of this machine, and pages in its browsers, do not know it.
  const path = `/${randomBytes(16).toString('hex')}/mcp`;
  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing, path, (request) => handler.fetch(request)).catch(() => outgoing.destroy());
  });
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new UserError('port_taken', `Port ${port} is not available.`, 'Choose another one with --http.', {
      cause: error,
    });
  }
  const address = server.address();
  const used = typeof address === 'object' && address !== null ? address.port : port;
  return {
    url: `http://127.0.0.1:${used}${path}`,
    closed: new Promise(() => {}),
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeIdleConnections();
      // The last answer is still on its way.
      await delay(partingMs);
      await handler.close();
      server.closeAllConnections();
    },
  };
}

async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  path: string,
  serve: (request: Request) => Promise<Response>,
): Promise<void> {
  if (incoming.url !== path) {
    outgoing.writeHead(404).end();
    return;
  }
  const request = await requestOf(incoming, outgoing, path);
  const response =
    request === null
      ? new Response('too large', { status: 413 })
      : (hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
        originValidationResponse(request, localhostAllowedOrigins()) ??
        (await serve(request)));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) outgoing.end();
  else await pipeline(Readable.fromWeb(response.body), outgoing);
}

/** Null if its body is too large. */
async function requestOf(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  path: string,
): Promise<Request | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming) {
    bytes += chunk.length;
    if (bytes > maxBytes) return null;
    chunks.push(chunk);
  }
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  const headers = Object.entries(incoming.headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  const { method = 'GET' } = incoming;
  const body = method === 'GET' || method === 'HEAD' ? null : Buffer.concat(chunks);
  return new Request(`http://127.0.0.1${path}`, { method, headers, body, signal: gone.signal });
}
