import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { messageOf, UserError } from '../../../lib/errors.ts';
import { sentence } from '../../../lib/sentence.ts';
import type { Outage } from '../outage.ts';
import { passwordVariable, type RedisAddress } from './address.ts';

const firstAnswerMs = 10_000;
/** A connection without any answer for this long is closed and opened again. */
const silenceMs = 20_000;
/** How long the driver waits for the server to close its side, and keeps the process meanwhile. */
const disconnectMs = 500;
/** The driver's message for commands that it gave up. */
const cutMessage = 'Command aborted due to connection close';
const cutPauseMs = 100;
/** Of a process that stops. */
const maxTries = 4;
/** In a row; between two of them, the driver waits for a new connection. */
const maxCuts = 100;

/**
 * Connects. If the connection breaks later, it is opened again, and commands wait for that; once the signal is aborted,
 * only for some tries.
 * @param onOutage told once when it can't be opened again at the first try, and once when it is open again
 * @throws UserError `no_redis`, `redis_refused`; the signal's reason
 */
export async function connectRedis(
  address: RedisAddress,
  signal: AbortSignal,
  onOutage?: (outage: Outage) => void,
): Promise<Redis> {
  const redis = new Redis({
    ...{ host: address.host, port: address.port, db: address.database },
    ...(address.user === undefined ? {} : { username: address.user }),
    ...(address.password === undefined ? {} : { password: address.password }),
    ...(address.isEncrypted ? { tls: {} } : {}),
    ...{ lazyConnect: true, maxRetriesPerRequest: null, keepAlive: 10_000, connectTimeout: firstAnswerMs },
    ...{ socketTimeout: silenceMs, disconnectTimeout: disconnectMs },
    // Whoever stops does not wait for a server that does not answer: others get its jobs when their locks expire.
    retryStrategy: (times: number) =>
      signal.aborted && times > maxTries ? null : Math.min(50 * 2 ** times, 1_000),
  });
  let trouble = '';
  // Without a listener, each of these errors would be printed.
  redis.on('error', (error: unknown) => {
    trouble = withoutPassword(messageOf(error), address);
  });
  try {
    await withinTime(
      redis.connect().then(() => redis.ping()),
      signal,
    );
    if (onOutage !== undefined) reportOutages(redis, address, () => trouble, onOutage);
    return redis;
  } catch (error) {
    redis.disconnect();
    signal.throwIfAborted();
    // The driver's last error says more than that the connection was closed. A cause would contain the commands, and
    // with them the password.
    throw unusable(address, trouble || (error instanceof TimedOut ? 'no answer' : messageOf(error)));
  }
}

/** `HOST:PORT`, for people. */
export const placeOfRedis = ({ host, port }: RedisAddress): string => `Redis at ${host}:${port}`;

function reportOutages(
  redis: Redis,
  address: RedisAddress,
  why: () => string,
  onOutage: (outage: Outage) => void,
): void {
  const service = placeOfRedis(address);
  let tries = 0;
  redis.on('reconnecting', () => {
    tries += 1;
    if (tries === 2) onOutage({ service, isOver: false, why: why() });
  });
  redis.on('ready', () => {
    if (tries > 1) onOutage({ service, isOver: true, why: '' });
    tries = 0;
  });
}

function unusable(address: RedisAddress, given: string): UserError {
  const trouble = sentence(withoutPassword(given, address));
  if (/^(WRONGPASS|NOAUTH|NOPERM|ERR .*(password|AUTH))/i.test(trouble)) {
    const who = address.user === undefined ? '' : ` for the user ${address.user}`;
    const what = address.password === undefined ? 'wants a password' : 'refused the password';
    return new UserError(
      'redis_refused',
      `${placeOfRedis(address)} ${what}${who}: ${trouble}`,
      `Set ${passwordVariable} to its password, and put the user, if it has one, into the address: redis://USER@${address.host}:${address.port}`,
    );
  }
  const trusted = address.isEncrypted
    ? ' If its certificate is of an authority of your own, set NODE_EXTRA_CA_CERTS to the file of that.'
    : '';
  return new UserError(
    'no_redis',
    `${placeOfRedis(address)} can't be used: ${trouble}`,
    `Check that it is running and that this machine reaches it.${trusted}`,
  );
}

function withoutPassword(text: string, { password }: RedisAddress): string {
  return password === undefined ? text : text.replaceAll(password, '…');
}

/**
 * Repeats what a broken connection left undone: the driver gives up commands that were sent together. Only for work
 * that may be done twice.
 */
export async function evenIfCut<Value>(work: () => Promise<Value>, left = maxCuts): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (left === 0 || !isCut(error)) throw error;
    await sleep(cutPauseMs);
    return await evenIfCut(work, left - 1);
  }
}

/** Whether a command was given up because the connection broke, which is reported as an outage. */
export const isCut = (error: unknown): boolean => error instanceof Error && error.message === cutMessage;

class TimedOut extends Error {}

async function withinTime<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const late = AbortSignal.any([signal, AbortSignal.timeout(firstAnswerMs)]);
  return await abortable(work, late).catch((error: unknown) => {
    throw late.aborted ? new TimedOut() : error;
  });
}

/**
 * The work continues by itself after the wait is aborted.
 * @throws the signal's reason
 */
export async function abortable<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>();
  const giveUp = () => reject(signal.reason);
  if (signal.aborted) giveUp();
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', giveUp);
    work.catch(() => {});
  }
}
