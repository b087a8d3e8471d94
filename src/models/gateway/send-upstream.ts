import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { hasCode } from '../../lib/errors.ts';
import type { DialectName } from '../../schema/index.ts';
import { headersOn } from './forwarded-headers.ts';
import type { UpstreamModel } from './upstream.ts';

/** An answer takes longer, also to begin; the news that a connection is closed does not. */
const closingMs = 1_000;

export interface SentRequest {
  method: string;
  /** The part after the base URL, with its query. */
  path: string;
  /** The program's headers, names and values in turn. */
  headers: readonly string[];
  body: Buffer;
}

/** Connections to providers, kept open between calls. */
export class UpstreamConnections implements Disposable {
  readonly #plain = new HttpAgent({ keepAlive: true });
  readonly #secure = new HttpsAgent({ keepAlive: true });

  /**
   * Sends a request with the provider's key in place of the program's.
   * @throws the error of the connection; the signal's reason if it is aborted
   */
  async send(
    dialect: DialectName,
    model: UpstreamModel,
    request: SentRequest,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const url = new URL(model.baseUrl + request.path);
    const headers = [
      ...headersOn(request.headers),
      ...['accept-encoding', 'identity', 'host', url.host, ...keyHeaders(dialect, model)],
      ...(request.body.length > 0 ? ['content-length', String(request.body.length)] : []),
    ];
    const isSecure = url.protocol === 'https:';
    const options = { method: request.method, headers, signal, agent: isSecure ? this.#secure : this.#plain };
    for (let isFirst = true; ; isFirst = false) {
      const began = performance.now();
      const sent = (isSecure ? httpsRequest : httpRequest)(url, options);
      try {
        return await responseTo(sent.end(request.body));
      } catch (error) {
        signal.throwIfAborted();
        const isClosed = hasCode(error, 'ECONNRESET') || hasCode(error, 'EPIPE');
        const isAtOnce = performance.now() - began < closingMs;
        // The provider closed an idle connection just as this request began to use it, so it has not read the request.
        if (!isFirst || !sent.reusedSocket || !isClosed || !isAtOnce) throw error;
      }
    }
  }

  [Symbol.dispose](): void {
    this.#plain.destroy();
    this.#secure.destroy();
  }
}

function responseTo(sent: ReturnType<typeof httpRequest>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.once('response', resolve);
    sent.on('error', reject);
  });
}

function keyHeaders(dialect: DialectName, { key }: UpstreamModel): string[] {
  if (key === null) return [];
  if (dialect === 'generate_content') return ['x-goog-api-key', key];
  if (dialect === 'messages') return ['x-api-key', key];
  return ['authorization', `Bearer ${key}`];
}

/** The headers that occur only once. */
export function plainHeaders({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}
