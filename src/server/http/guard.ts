import type { IncomingMessage } from 'node:http';
import { isSameToken } from '../../lib/same-token.ts';
import type { ViewerError } from '../../schema/index.ts';

/** Who may send requests. */
export interface AccessRules {
  /** Host names and ports by which this server may be addressed; null: any (then there is a token). */
  hosts: ReadonlySet<string> | null;
  /** The token that every request needs; null if only this machine can connect. */
  token: string | null;
  /** Name of the cookie with the token. */
  cookie: string;
}

export interface Refusal extends ViewerError {
  status: 400 | 401 | 403 | 405 | 421;
}

/** The names of this machine by which clients address a server on it. Browsers leave out port 80. */
export function ownNames(port: number): ReadonlySet<string> {
  const names = ['127.0.0.1', 'localhost', '[::1]'];
  return new Set([...names.map((name) => `${name}:${port}`), ...(port === 80 ? names : [])]);
}

/**
 * Null if the request may be answered. A page of another site in the same browser must learn nothing: it can neither
 * use another name for this server (Host) nor send requests as a page (Origin, Sec-Fetch-Site).
 */
export function refusalOf(
  request: IncomingMessage,
  access: AccessRules,
  given: string | null,
): Refusal | null {
  const { method, headers } = request;
  if (method !== 'GET' && method !== 'HEAD')
    return refusal(405, 'read_only', 'This server is read-only.', 'Use mlab itself to change something.');
  const { host } = headers;
  if (host === undefined || (access.hosts !== null && !access.hosts.has(host.toLowerCase())))
    return refusal(
      421,
      'wrong_host',
      'This server does not answer to this host name.',
      'Use the address that mlab view printed.',
    );
  if (!isOwnPage(request, host))
    return refusal(
      403,
      'foreign_page',
      'Pages of other sites may not read this.',
      'Open the viewer directly.',
    );
  // A wrong token in the address fails, whatever the cookie says, so that the address works or fails for everybody
  // alike.
  const tokens = given === null ? tokensOf(request, access) : [given];
  const { token } = access;
  if (token === null || tokens.some((one) => one !== null && isSameToken(one, token))) return null;
  return refusal(
    401,
    'no_token',
    'This viewer needs its token.',
    'Open the whole address that mlab view printed.',
  );
}

function refusal(status: Refusal['status'], code: string, message: string, hint: string): Refusal {
  return { status, code, message, hint };
}

function isOwnPage({ headers }: IncomingMessage, host: string): boolean {
  const { origin } = headers;
  if (origin !== undefined && origin !== `http://${host}`) return false;
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return true;
  // Links on other pages to the viewer may be followed.
  return headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
}

function tokensOf({ headers }: IncomingMessage, access: AccessRules): (string | null)[] {
  const bearer = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? null;
  const cookies = (headers.cookie ?? '').split(/; */).map((one) => one.split('='));
  return [bearer, ...cookies.filter(([name]) => name === access.cookie).map(([, value]) => value ?? null)];
}
