import type { Redis } from 'ioredis';
import type { DoctorCheck } from '../../../lib/doctor-check.ts';
import { UserError } from '../../../lib/errors.ts';
import type { CheckPlace, WorkerChecks } from '../executor-kind.ts';
import { passwordVariable, type RedisAddress } from './address.ts';
import { connectRedis } from './connection.ts';
import { type SeenWorker, workersSeen } from './workers.ts';
import { requireWrites } from './write-refusal.ts';

/** What `mlab doctor --on redis://…` finds: the server as seen from here, and its workers. */
export async function checkRedis(
  address: RedisAddress,
  { version, signal }: Pick<CheckPlace, 'version' | 'signal'>,
): Promise<WorkerChecks> {
  const place = address.shown;
  try {
    const redis = await connectRedis(address, signal);
    try {
      const [server, persistence] = [await factsOf(redis, 'server'), await factsOf(redis, 'persistence')];
      const [replication, memory] = [await factsOf(redis, 'replication'), await factsOf(redis, 'memory')];
      const workers = await workersSeen(redis);
      return {
        place,
        findings: [
          finding('Address', null, `answers: ${server.get('redis_version') ?? 'an unknown version'}`),
          encryption(address),
          password(address),
          appendOnly(persistence.get('aof_enabled') === '1'),
          role(replication),
          eviction(memory),
          await writes(redis, address, signal),
          ...workersFound(workers, address, version),
        ],
      };
    } finally {
      redis.disconnect();
    }
  } catch (error) {
    if (!UserError.isInstance(error)) throw error;
    return {
      place,
      findings: [{ name: 'Address', state: 'missing', detail: error.message, fix: error.hint }],
    };
  }
}

/** @param fix null: nothing is wrong */
function finding(name: string, fix: string | null, detail: string): DoctorCheck {
  return { name, state: fix === null ? 'ok' : 'warning', detail, fix };
}

/** One section of `INFO`. */
async function factsOf(redis: Redis, section: string): Promise<Map<string, string>> {
  const lines = (await redis.info(section)).split(/\r?\n/);
  return new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)] as const),
  );
}

function encryption({ isEncrypted, host }: RedisAddress): DoctorCheck {
  if (isEncrypted) return finding('Encryption', null, 'TLS');
  if (['localhost', '127.0.0.1', '::1'].includes(host)) return finding('Encryption', null, 'on this machine');
  const detail = 'none: the network can read jobs and the password';
  return finding('Encryption', 'use rediss://, or a network of its own', detail);
}

function password({ password: given }: RedisAddress): DoctorCheck {
  if (given !== undefined) return finding('Password', null, 'given');
  const detail = 'none: whoever reaches this Redis can have workers execute programs';
  return finding('Password', `set requirepass at the server, and ${passwordVariable} here`, detail);
}

function appendOnly(isOn: boolean): DoctorCheck {
  if (isOn) return finding('Persistence', null, 'appendonly yes');
  const detail = 'appendonly no: queued jobs and counted spending are lost if it restarts';
  return finding('Persistence', 'redis-cli CONFIG SET appendonly yes, and the same in redis.conf', detail);
}

function role(facts: ReadonlyMap<string, string>): DoctorCheck {
  if (facts.get('role') !== 'slave') return finding('Role', null, 'primary');
  const primary = `${facts.get('master_host')}:${facts.get('master_port')}`;
  const detail = `a replica of ${primary}: what is written to it is refused, or lost`;
  return finding('Role', `use the address of its primary: redis://${primary}`, detail);
}

function eviction(facts: ReadonlyMap<string, string>): DoctorCheck {
  const [most, policy] = [facts.get('maxmemory') ?? '0', facts.get('maxmemory_policy') ?? 'noeviction'];
  if (most === '0') return finding('Memory', null, 'no maxmemory');
  const limit = `maxmemory ${facts.get('maxmemory_human') ?? most}, ${policy}`;
  if (policy === 'noeviction') return finding('Memory', null, limit);
  const detail = `${limit}: when it is full, it silently deletes queued jobs and counted spending`;
  const fix = 'redis-cli CONFIG SET maxmemory-policy noeviction, and the same in redis.conf';
  return finding('Memory', fix, detail);
}

async function writes(redis: Redis, address: RedisAddress, signal: AbortSignal): Promise<DoctorCheck> {
  try {
    await requireWrites(redis, address, signal);
    return finding('Writes', null, 'accepted');
  } catch (error) {
    if (!UserError.isInstance(error)) throw error;
    return { name: 'Writes', state: 'missing', detail: error.message, fix: error.hint };
  }
}

function workersFound(
  workers: readonly SeenWorker[],
  { shown }: RedisAddress,
  version: string,
): DoctorCheck[] {
  if (workers.length === 0) return [finding('Workers', `mlab worker --redis ${shown}`, 'none')];
  return workers.map(({ id, mlab, total, state }) => {
    const detail = `${id}: ${state}, mlab ${mlab}, ${total.cores} cores, ${total.memory_mb} MB, GPUs: ${total.gpus}`;
    const fix = mlab === version ? null : `install mlab ${version} there: it refuses jobs of another version`;
    return finding('Worker', fix, detail);
  });
}
