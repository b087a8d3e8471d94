import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** Faults of single requests, used in order; after them the file is served correctly. */
export type Fault =
  | { kind: 'cut'; afterBytes: number }
  | { kind: 'hang'; afterBytes: number }
  | { kind: 'status'; status: number; headers?: Record<string, string> }
  | { kind: 'redirect'; to: string };

export interface FileServerOptions {
  content: Buffer;
  etag?: string | null;
  ranges?: boolean;
  contentType?: string;
  faults?: Fault[];
}

export interface SeenRequest {
  path: string;
  range: string | null;
  authorization: string | null;
}

/** A local web server with one file and chosen faults. */
export interface FileServer extends AsyncDisposable {
  url: string;
  requests: SeenRequest[];
  /** Options for the following requests. */
  options: FileServerOptions;
}

export async function startFileServer(options: FileServerOptions): Promise<FileServer> {
  const requests: SeenRequest[] = [];
  const state = { options: { ...options, faults: [...(options.faults ?? [])] } };
  const server = createServer((request, response) => {
    requests.push({
      path: request.url ?? '',
      range: request.headers.range ?? null,
      authorization: request.headers.authorization ?? null,
    });
    answer(state.options, request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    options: state.options,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function answer(options: FileServerOptions, request: IncomingMessage, response: ServerResponse): void {
  const fault = options.faults?.shift();
  if (fault?.kind === 'status') {
    response.writeHead(fault.status, fault.headers).end('no');
    return;
  }
  if (fault?.kind === 'redirect') {
    response.writeHead(302, { location: fault.to }).end();
    return;
  }
  const from = rangeStart(options, request);
  const body = options.content.subarray(from);
  const headers: Record<string, string | number> = {
    'content-type': options.contentType ?? 'application/octet-stream',
    'content-length': body.length,
  };
  if (options.etag) headers.etag = options.etag;
  if (from > 0)
    headers['content-range'] = `bytes ${from}-${options.content.length - 1}/${options.content.length}`;
  response.writeHead(from > 0 ? 206 : 200, headers);
  if (fault === undefined) {
    response.end(body);
    return;
  }
  response.write(body.subarray(0, fault.afterBytes), () => {
    if (fault.kind === 'cut') setTimeout(() => response.destroy(), 20);
  });
}

function rangeStart(options: FileServerOptions, request: IncomingMessage): number {
  if (options.ranges === false) return 0;
  const condition = request.headers['if-range'];
  if (condition !== undefined && condition !== options.etag) return 0;
  return Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
}
