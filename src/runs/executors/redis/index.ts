import { hasCode, UserError } from '../../../lib/errors.ts';
import { installHint } from '../../../lib/install-hint.ts';
import type { ExecutorKind } from '../executor-kind.ts';
import { isRedisUrl, redisAddress } from './address.ts';

/** Users without Redis neither install nor load its libraries. */
const load = {
  check: () => withLibraries(import('./check-redis.ts')),
  executor: () => withLibraries(import('./redis-executor.ts')),
  serve: () => withLibraries(import('./serve.ts')),
};

async function withLibraries<Module>(loading: Promise<Module>): Promise<Module> {
  try {
    return await loading;
  } catch (error) {
    if (!hasCode(error, 'ERR_MODULE_NOT_FOUND')) throw error;
    throw new UserError(
      'no_redis_library',
      'The client for Redis (bullmq and ioredis) is not installed.',
      installHint('bullmq@^6.7.0 ioredis@^6.0.0'),
      { cause: error },
    );
  }
}

export const redis: ExecutorKind = {
  name: 'redis',
  matches: (on) => on === 'redis' || isRedisUrl(on),
  // If a variable holds the address, it is looked up each time.
  recorded: (on) => (on === 'redis' ? on : redisAddress(on, {}).shown),
  ready: async (on, { variables, signal }) => {
    const { tryRedis } = await load.serve();
    await tryRedis(redisAddress(on, variables), signal);
  },
  open: async (on, place) => {
    const { RedisExecutor } = await load.executor();
    return await RedisExecutor.open(redisAddress(on, place.variables), place);
  },
  check: async (on, place) => {
    const { checkRedis } = await load.check();
    return await checkRedis(redisAddress(on, place.variables), place);
  },
  openCanceller: async (on, place) => {
    const { openCanceller } = await load.serve();
    return await openCanceller(redisAddress(on, place.variables), place);
  },
};

export const serveRedis: Awaited<ReturnType<typeof load.serve>>['serveRedis'] = async (settings) =>
  (await load.serve()).serveRedis(settings);

export const listWorkers: Awaited<ReturnType<typeof load.serve>>['listWorkers'] = async (address, signal) =>
  (await load.serve()).listWorkers(address, signal);
export { redisAddress };
