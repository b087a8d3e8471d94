import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const compress = promisify(gzip);
const compressFrom = 1400;

/** Headers of every response. Nothing from other sites may be loaded, and no other site may load this. */
export const safeHeaders: OutgoingHttpHeaders = {
  'content-security-policy': [
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self';",
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  ].join(' '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'x-frame-options': 'DENY',
};

/** The response of a route. */
export type ViewerResponse =
  | { json: unknown; status?: number; lasts?: boolean }
  /** To download: its bytes are shown by nobody. */
  | { download: Readable | string; name: string; lasts?: boolean };

/** Browsers may cache what never changes. */
const lasting = 'private, max-age=31536000, immutable';

export async function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  answer: ViewerResponse,
): Promise<void> {
  const caching = { 'cache-control': answer.lasts === true ? lasting : 'no-store' };
  if ('json' in answer) {
    const headers = { ...caching, 'content-type': 'application/json; charset=utf-8' };
    await sendBytes(
      request,
      response,
      answer.status ?? 200,
      headers,
      Buffer.from(JSON.stringify(answer.json)),
    );
    return;
  }
  const headers = {
    ...caching,
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename="${answer.name.replaceAll(/[^\w.-]/g, '_')}"`,
  };
  if (typeof answer.download === 'string') {
    await sendBytes(request, response, 200, headers, Buffer.from(answer.download));
    return;
  }
  response.writeHead(200, { ...safeHeaders, ...headers });
  if (request.method === 'HEAD') {
    answer.download.destroy();
    response.end();
  } else await pipeline(answer.download, response);
}

/** Compressed if the client accepts it and it is worth it. */
export async function sendBytes(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: OutgoingHttpHeaders,
  content: Buffer,
): Promise<void> {
  const isCompressed =
    content.length >= compressFrom && /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
  const body = isCompressed ? await compress(content, { level: 5 }) : content;
  if (response.destroyed) return;
  response.writeHead(status, {
    ...safeHeaders,
    ...headers,
    ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
    vary: 'accept-encoding',
    'content-length': body.length,
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}
