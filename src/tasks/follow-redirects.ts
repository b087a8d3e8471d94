import { messageOf, UserError } from '../lib/errors.ts';
import type { DownloadRequest } from './download-request.ts';

const hopsMax = 10;

/** Follows redirects one by one, so that each host gets only the headers meant for it. */
export async function requestFollowing(
  request: DownloadRequest,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<Response> {
  let url = new URL(request.url);
  for (let hop = 0; hop <= hopsMax; hop++) {
    const response = await fetch(url, {
      // With compression, sizes and offsets would be those of the compressed bytes.
      headers: { 'accept-encoding': 'identity', ...headers, ...request.headersFor?.(url) },
      redirect: 'manual',
      signal,
    });
    const location = response.headers.get('location');
    if (![301, 302, 303, 307, 308].includes(response.status) || location === null) return response;
    await response.body?.cancel();
    url = nextHop(url, location);
  }
  throw new UserError(
    'too_many_redirects',
    `${request.url} redirects in circles`,
    'the source has moved: correct its url',
  );
}

function nextHop(from: URL, location: string): URL {
  let next: URL;
  try {
    next = new URL(location, from);
  } catch (error) {
    throw new UserError(
      'bad_redirect',
      `${from.host} redirects to an invalid address: ${messageOf(error)}`,
      'try again later',
    );
  }
  const allowed = next.protocol === 'https:' || (next.protocol === 'http:' && from.protocol === 'http:');
  if (allowed) return next;
  throw new UserError(
    'unsafe_redirect',
    `${from.host} redirects to ${next.protocol}//${next.host}, which is less secure`,
    'download the file yourself and use --mirror',
  );
}
