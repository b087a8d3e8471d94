import type { ExecutorKind } from '../executor-kind.ts';
import { isRedisUrl, redisAddress } from './address.ts';

/** Who uses no Redis does not load its libraries. */
const load = {
  executor: () => import('./redis-executor.ts'),
  serve: () => import('./serve.ts'),
};

export const redis: ExecutorKind = {
  name: 'redis',
  matches: (on) => on === 'redis' || isRedisUrl(on),
  // Where the address is a variable's, it is looked up each time.
  recorded: (on) => (on === 'redis' ? on : redisAddress(on, {}).shown),
  open: async (on, place) => {
    const { RedisExecutor } = await load.executor();
    return await RedisExecutor.open(redisAddress(on, place.variables), place);
  },
};

export const serveRedis: Awaited<ReturnType<typeof load.serve>>['serveRedis'] = async (settings) =>
  (await load.serve()).serveRedis(settings);

export const listWorkers: Awaited<ReturnType<typeof load.serve>>['listWorkers'] = async (address, signal) =>
  (await load.serve()).listWorkers(address, signal);
export { redisAddress };
