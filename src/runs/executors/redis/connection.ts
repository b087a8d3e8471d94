import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { messageOf, UserError } from '../../../lib/errors.ts';
import { sentence } from '../../../lib/sentence.ts';
import type { RedisAddress } from './address.ts';

const firstAnswerMs = 10_000;
/** A connection without any answer for this long is closed and opened again. */
const silenceMs = 20_000;
/** The driver's message for commands that it gave up. */
const cutMessage = 'Command aborted due to connection close';
const cutPauseMs = 100;
/** In a row; between two of them, the driver waits for a new connection. */
const mostCuts = 100;

/**
 * Connects. If the connection breaks later, it is opened again, and commands wait for that.
 * @throws UserError `no_redis`; the signal's reason
 */
export async function connectRedis(address: RedisAddress, signal: AbortSignal): Promise<Redis> {
  const redis = new Redis({
    ...{ host: address.host, port: address.port, db: address.database },
    ...(address.user === undefined ? {} : { username: address.user }),
    ...(address.password === undefined ? {} : { password: address.password }),
    ...(address.isEncrypted ? { tls: {} } : {}),
    ...{ lazyConnect: true, maxRetriesPerRequest: null, keepAlive: 10_000, connectTimeout: firstAnswerMs },
    socketTimeout: silenceMs,
    retryStrategy: (times: number) => Math.min(50 * 2 ** times, 1_000),
  });
  let lastTrouble = 'no answer';
  // Without a listener, each of these errors would be printed.
  redis.on('error', (error: unknown) => {
    lastTrouble = messageOf(error);
  });
  try {
    await withinTime(
      redis.connect().then(() => redis.ping()),
      signal,
    );
    return redis;
  } catch (error) {
    redis.disconnect();
    signal.throwIfAborted();
    const trouble = error instanceof TimedOut ? lastTrouble : messageOf(error);
    // The cause would contain the commands, and with them the password.
    throw new UserError(
      'no_redis',
      `Redis at ${address.shown} can't be used: ${sentence(withoutPassword(trouble, address))}`,
      `Check that it is running and reachable from this machine, and that MLAB_REDIS_PASSWORD holds its password.${address.isEncrypted ? ' Where its certificate is of an authority of your own, NODE_EXTRA_CA_CERTS names the file of that.' : ''}`,
    );
  }
}

function withoutPassword(text: string, { password }: RedisAddress): string {
  return password === undefined ? text : text.replaceAll(password, '…');
}

/**
 * Repeats what a broken connection left undone: the driver gives up commands that were sent together. Only for work
 * that may be done twice.
 */
export async function evenIfCut<Value>(work: () => Promise<Value>, left = mostCuts): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (left === 0 || !(error instanceof Error) || error.message !== cutMessage) throw error;
    await sleep(cutPauseMs);
    return await evenIfCut(work, left - 1);
  }
}

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
