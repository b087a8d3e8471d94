import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** The answer for a path: its content, an HTTP status, or bytes after which nothing more comes. */
export type Answer = Buffer | number | { hangAfter: Buffer };

/** A local web server with many small files. */
export interface FolderServer extends AsyncDisposable {
  url: string;
  /** Requested paths, in order. */
  requests: string[];
  /** The files for the following requests, by path without the first slash. */
  files: Map<string, Answer>;
  /** The most requests that were answered at the same time. */
  most: () => number;
}

/** @param delayMs how long each answer takes */
export async function startFolderServer(
  files: Record<string, Answer>,
  { delayMs = 0 }: { delayMs?: number } = {},
): Promise<FolderServer> {
  const served = new Map(Object.entries(files));
  const requests: string[] = [];
  let open = 0;
  let most = 0;
  const server = createServer(async (request, response) => {
    const path = (request.url ?? '/').slice(1);
    requests.push(path);
    most = Math.max(most, ++open);
    await sleep(delayMs);
    open -= 1;
    answer(served.get(path) ?? 404, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    files: served,
    most: () => most,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function answer(what: Answer, response: ServerResponse): void {
  if (typeof what === 'number') {
    response.writeHead(what).end('no');
    return;
  }
  if (Buffer.isBuffer(what)) {
    response.writeHead(200, { 'content-length': what.length }).end(what);
    return;
  }
  response.writeHead(200).write(what.hangAfter);
}
