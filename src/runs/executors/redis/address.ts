import { UserError } from '../../../lib/errors.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** The address of a Redis server, and its credentials. */
export interface RedisAddress {
  /** Without the password: for people, and for records. */
  shown: string;
  host: string;
  port: number;
  database: number;
  isEncrypted: boolean;
  user: string | undefined;
  password: string | undefined;
}

export const urlVariable = 'MLAB_REDIS_URL';
export const passwordVariable = 'MLAB_REDIS_PASSWORD';
const usualPort = 6379;

export const isRedisUrl = (text: string): boolean => /^rediss?:\/\//.test(text);

/**
 * @param given an address, which everybody on the machine can read in the list of processes; `redis` or undefined: the
 *   one in MLAB_REDIS_URL
 * @throws UserError `bad_redis_url`, `password_shown`
 */
export function redisAddress(given: string | undefined, variables: Variables): RedisAddress {
  const isGiven = given !== undefined && given !== 'redis';
  const text = isGiven ? given : variables[urlVariable];
  const hint = `An address is redis://HOST:PORT, or rediss:// for TLS; a password comes from ${passwordVariable}.`;
  if (text === undefined || text === '')
    throw new UserError('bad_redis_url', 'No Redis address is given.', `${hint} ${urlVariable} may hold it.`);
  // An invalid address is not repeated, because it may contain a password.
  const url = URL.parse(text);
  if (url === null || !isRedisUrl(text) || url.hostname === '' || !/^\/?\d*$/.test(url.pathname))
    throw new UserError('bad_redis_url', 'This is not a valid Redis address.', hint);
  if (isGiven && url.password !== '') {
    throw new UserError(
      'password_shown',
      'Others can read a password on the command line or in a file.',
      `Put it into ${passwordVariable}, or the whole address into ${urlVariable}.`,
    );
  }
  const password = variables[passwordVariable] ?? decodeURIComponent(url.password);
  const address = {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? usualPort : Number(url.port),
    database: Number(url.pathname.slice(1)),
    isEncrypted: url.protocol === 'rediss:',
    user: url.username === '' ? undefined : decodeURIComponent(url.username),
    password: password === '' ? undefined : password,
  };
  url.password = '';
  return { ...address, shown: url.href };
}
