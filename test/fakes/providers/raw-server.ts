import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** A request, byte by byte. */
export interface RawRequest {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface RawReply {
  status?: number;
  headers?: Record<string, string>;
  /** Written one after the other. */
  pieces: readonly (Buffer | string)[];
  /** The pause between the pieces, in milliseconds. */
  pauseMs?: number;
  /** What follows the last piece; default: the end. `cut`: the connection is closed; `silence`: nothing. */
  ending?: 'end' | 'cut' | 'silence';
  /** The delay before the headers, in milliseconds. */
  delayMs?: number;
}

export interface RawServer extends AsyncDisposable {
  url: string;
  requests: RawRequest[];
  /** The number of requests that the client aborted. */
  readonly givenUp: number;
}

/** A local server without a format: it keeps its requests and returns the given replies. */
export async function startRawServer(reply: (request: RawRequest) => RawReply): Promise<RawServer> {
  const requests: RawRequest[] = [];
  let givenUp = 0;
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '', headers } = request;
    const asked = { method, url, headers, body: await buffer(request) };
    requests.push(asked);
    response.once('close', () => {
      if (!response.writableEnded && response.writable) givenUp += 1;
    });
    const { status = 200, headers: sent = {}, pieces, pauseMs, ending = 'end', delayMs } = reply(asked);
    if (delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, delayMs));
    response.writeHead(status, sent);
    for (const piece of pieces) {
      response.write(piece);
      if (pauseMs !== undefined) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    if (ending === 'end') response.end();
    if (ending === 'cut') response.destroy();
  };
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    requests,
    get givenUp() {
      return givenUp;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      if (!server.listening) return;
      server.close();
      await once(server, 'close');
    },
  };
}
