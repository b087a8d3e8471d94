import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * The body of a request. A body that is too large is read to its end and dropped, up to a limit, so that the answer
 * arrives. `gone`: the connection was lost.
 */
export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
): Promise<Buffer | 'too_large' | 'gone'> {
  const { socket } = request;
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of request) {
      bytes += (part as Buffer).length;
      if (bytes <= maxBytes) parts.push(part as Buffer);
      else if (bytes > 8 * maxBytes) break;
    }
  } catch {
    return 'gone';
  }
  if (bytes > 8 * maxBytes) {
    // Ending only the request would leave the connection open.
    socket.destroy();
    return 'gone';
  }
  return bytes > maxBytes ? 'too_large' : Buffer.concat(parts);
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
