import { openS3Store } from '../../artifacts/open-s3-store.ts';
import { withRunCopy } from '../../artifacts/worker-copy.ts';
import { type Amounts, Capacity, machineAmounts } from '../../jobs/capacity.ts';
import { executeJob, giveUpJob } from '../../jobs/execute-job.ts';
import type { Following } from '../../jobs/executor.ts';
import type { JobHost, Machine } from '../../jobs/job-host.ts';
import type { JobProgress, JobResult } from '../../jobs/job-result.ts';
import type { Canceller, ExecutorPlace } from '../executor-kind.ts';
import type { Outage } from '../outage.ts';
import type { RedisAddress } from './address.ts';
import { cancelQueued } from './cancel-jobs.ts';
import { connectRedis } from './connection.ts';
import { FleetHost } from './fleet-host.ts';
import { FleetWorker } from './fleet-worker.ts';
import type { Queued } from './job-queue.ts';
import { type SeenWorker, workersSeen } from './workers.ts';
import { explained, requireWrites } from './write-refusal.ts';

export interface FleetWorkerSettings {
  address: RedisAddress;
  machine: Machine;
  /** What jobs may use of this machine; default: all of it. */
  amounts: Partial<Amounts>;
  labels: readonly string[];
  stalledAfterSeconds: number;
  /** Called when it is registered and begins to take jobs. */
  onReady: (worker: string) => void;
  onOutage: (outage: Outage) => void;
  onJobProgress: (progress: JobProgress) => void;
  signal: AbortSignal;
}

/**
 * Executes jobs of a Redis until the signal is aborted.
 * @returns how many runs were done
 */
export async function serveRedis(settings: FleetWorkerSettings): Promise<number> {
  const { address, machine, amounts, labels, stalledAfterSeconds, signal } = settings;
  const redis = await connectRedis(address, signal, settings.onOutage);
  const listener = await connectRedis(address, signal);
  try {
    const all = machineAmounts();
    const capacity = new Capacity({
      ...{ cores: amounts.cores ?? all.cores, memory_mb: amounts.memory_mb ?? all.memory_mb },
      ...{ gpus: amounts.gpus ?? machine.gpus?.gpus.length ?? 0 },
      jobs: amounts.jobs ?? Math.max(1, Math.floor(amounts.cores ?? all.cores)),
    });
    const worker: FleetWorker = new FleetWorker({
      ...{ redis, listener, capacity, labels, mlab: machine.versions.mlab ?? '' },
      ...{ stalledAfterMs: stalledAfterSeconds * 1000, log: machine.onProgress },
      onReady: settings.onReady,
      execute: (queued, following) =>
        withExperiment(queued, { ...following, onProgress: settings.onJobProgress }, (host, here) =>
          executeJob(queued.job, host, here),
        ),
      giveUp: (queued, reason, following) =>
        withExperiment(queued, following, (host, here) => giveUpJob(queued.job, host, reason, here)),
    });
    const fleet = new FleetHost(machine, redis, worker.id);
    /** In the shared folder, or in a copy from a store. */
    const withExperiment = async (
      { job, artifacts }: Queued,
      following: Following,
      work: (host: JobHost, here: Following) => Promise<JobResult>,
    ): Promise<JobResult> => {
      if (artifacts === undefined) return await work(fleet.host, following);
      using store = await openS3Store(artifacts, machine.variables);
      return await withRunCopy(job, { store, log: machine.onProgress }, following, (experiment, here) =>
        work({ ...fleet.host, experiment: () => experiment }, here),
      );
    };
    const done = await explained(worker.run(signal), address);
    await fleet.settled();
    return done;
  } finally {
    listener.disconnect();
    redis.disconnect();
  }
}

/** @throws UserError if it can't be used from here */
export async function tryRedis(address: RedisAddress, signal: AbortSignal): Promise<void> {
  const redis = await connectRedis(address, signal);
  try {
    await requireWrites(redis, address, signal);
  } finally {
    redis.disconnect();
  }
}

/** The workers registered in a Redis. */
export async function listWorkers(address: RedisAddress, signal: AbortSignal): Promise<SeenWorker[]> {
  const redis = await connectRedis(address, signal);
  try {
    return await workersSeen(redis);
  } finally {
    redis.disconnect();
  }
}

export async function openCanceller(
  address: RedisAddress,
  { experiment, signal, onOutage }: ExecutorPlace,
): Promise<Canceller> {
  const redis = await connectRedis(address, signal, onOutage);
  try {
    // Before anything is noted as cancelled.
    await requireWrites(redis, address, signal);
  } catch (error) {
    redis.disconnect();
    throw error;
  }
  return {
    cancel: (runs) => explained(cancelQueued(redis, experiment.folder, runs), address),
    [Symbol.asyncDispose]: async () => redis.disconnect(),
  };
}
