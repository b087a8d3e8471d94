import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { messageOf, UserError } from '../../../lib/errors.ts';
import { sentence } from '../../../lib/sentence.ts';
import type { RedisAddress } from './address.ts';
import { abortable, placeOfRedis } from './connection.ts';
import { keys } from './keys.ts';

const advice: readonly { answer: RegExp; hint: string }[] = [
  {
    answer: /OOM command not allowed/,
    hint: 'Give it more memory, such as with redis-cli CONFIG SET maxmemory 1gb and the same in redis.conf, or use another Redis.',
  },
  {
    answer: /READONLY /,
    hint: 'It is a replica: use the address of its primary, which redis-cli INFO replication names.',
  },
  {
    answer: /MISCONF /,
    hint: 'It can not save to its disk: its log says why. Free some space, or repair the disk.',
  },
  {
    answer: /NOREPLICAS /,
    hint: 'Too few of its replicas answer: start them, or lower min-replicas-to-write.',
  },
  {
    answer: /EXECABORT /,
    hint: 'mlab doctor --on redis says why: it tries a write.',
  },
];

/** Whether Redis answered that it stores nothing at the moment, whatever the command. */
export function isWriteRefusal(error: unknown): boolean {
  return error instanceof Error && advice.some(({ answer }) => answer.test(error.message));
}

/** A refused write, for people; any other error is returned as it is. */
export function explainWriteRefusal(error: unknown, address: RedisAddress): unknown {
  if (!isWriteRefusal(error) || UserError.isInstance(error)) return error;
  const said = saidBy(error);
  return new UserError(
    'redis_refuses_writes',
    `${placeOfRedis(address)} refuses to store anything: ${sentence(said)}`,
    advice.find(({ answer }) => answer.test(said))?.hint ?? '',
  );
}

/** A transaction is refused because of one of its commands, whose answer says more. */
function saidBy(error: unknown): string {
  const [first] =
    error instanceof Error && 'previousErrors' in error && Array.isArray(error.previousErrors)
      ? error.previousErrors
      : [];
  // Where in a script it was refused is of no use to people.
  return messageOf(first ?? error).replace(/ script: .*$/s, '');
}

/**
 * Stores something, and removes it.
 * @throws the refusal
 */
export async function tryWrite(redis: Redis): Promise<void> {
  const key = keys.tried(randomUUID());
  await redis.set(key, '1', 'EX', 60);
  await redis.del(key);
}

/** @throws UserError `redis_refuses_writes`; the signal's reason */
export async function requireWrites(redis: Redis, address: RedisAddress, signal: AbortSignal): Promise<void> {
  await explained(abortable(tryWrite(redis), signal), address);
}

/** @throws UserError `redis_refuses_writes` instead of a refused write */
export async function explained<Value>(work: Promise<Value>, address: RedisAddress): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    throw explainWriteRefusal(error, address);
  }
}
