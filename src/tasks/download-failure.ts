import { messageOf, UserError } from '../lib/errors.ts';

const byHand = 'download the file yourself, put it into a folder and name that with --mirror';

export function explainStatus(url: string, status: number): UserError {
  if (status === 401 || status === 403)
    return new UserError('no_access', `${url} refuses access (HTTP ${status})`, byHand);
  if (status === 404 || status === 410)
    return new UserError('not_found', `${url} no longer exists (HTTP ${status})`, byHand);
  return new UserError('server_error', `${url} answers with HTTP ${status}`, `try again later, or ${byHand}`);
}

export function explainNetworkError(url: string, error: unknown): UserError {
  const proxy = 'behind a proxy set HTTPS_PROXY and NODE_USE_ENV_PROXY=1';
  return new UserError(
    'network',
    `${url} could not be downloaded: ${rootMessage(error)}`,
    `run the same command again to resume the download; ${proxy}; without a network ${byHand}`,
    { cause: error },
  );
}

/** fetch only says "fetch failed"; the reason is in the causes. */
function rootMessage(error: unknown): string {
  let current = error;
  while (current instanceof Error && current.cause instanceof Error) current = current.cause;
  return messageOf(current) || 'no connection';
}

/** @param needed in bytes */
export function diskFull(path: string, needed?: number): UserError {
  const size = needed === undefined ? '' : `: ${Math.ceil(needed / 2 ** 20)} MiB are needed`;
  return new UserError(
    'disk_full',
    `not enough disk space for ${path}${size}`,
    'free some disk space, or set MLAB_CACHE to a folder on another disk',
  );
}
