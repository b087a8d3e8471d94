import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { DialectName } from '../../schema/index.ts';
import type { UpstreamModel } from './upstream.ts';

/**
 * Headers of one connection, of the program's token, or of the account that pays: the provider gets our own headers
 * instead, or none.
 */
const notSentOn = new Set([
  ...['host', 'connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'proxy-authenticate'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'expect', 'content-length', 'content-encoding'],
  ...['authorization', 'x-api-key', 'x-goog-api-key', 'api-key', 'cookie', 'accept-encoding'],
  ...['openai-organization', 'openai-project', 'x-goog-user-project'],
]);

/** Headers of one connection, and those that identify the account behind the key. */
const notSentBack = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'trailer', 'transfer-encoding'],
  ...['upgrade', 'set-cookie', 'content-length', 'anthropic-organization-id'],
  ...['openai-organization', 'openai-project'],
]);

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
      ...namedOtherwise(request.headers, notSentOn),
      ...['accept-encoding', 'identity', 'host', url.host, ...keyHeaders(dialect, model)],
      ...(request.body.length > 0 ? ['content-length', String(request.body.length)] : []),
    ];
    const isSecure = url.protocol === 'https:';
    const options = { method: request.method, headers, signal, agent: isSecure ? this.#secure : this.#plain };
    for (let isFirst = true; ; isFirst = false) {
      const sent = (isSecure ? httpsRequest : httpRequest)(url, options);
      try {
        return await responseTo(sent.end(request.body));
      } catch (error) {
        signal.throwIfAborted();
        // The provider closed an idle connection just as this request began to use it, so it has not read the request.
        if (!isFirst || !sent.reusedSocket) throw error;
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

/** The provider's headers that a program gets, names and values in turn. */
export function headersBack(raw: readonly string[]): string[] {
  return namedOtherwise(raw, notSentBack);
}

function namedOtherwise(raw: readonly string[], names: ReadonlySet<string>): string[] {
  // Headers that `connection` names belong to that connection, too.
  const own = new Set<string>();
  for (let at = 0; at < raw.length; at += 2)
    if (raw[at]?.toLowerCase() === 'connection')
      for (const name of (raw[at + 1] ?? '').split(',')) own.add(name.trim().toLowerCase());
  const kept: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const name = (raw[at] ?? '').toLowerCase();
    if (!names.has(name) && !own.has(name)) kept.push(raw[at] ?? '', raw[at + 1] ?? '');
  }
  return kept;
}

/** The headers that occur only once. */
export function plainHeaders({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}
