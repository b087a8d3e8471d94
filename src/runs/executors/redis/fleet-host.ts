import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { UserError } from '../../../lib/errors.ts';
import { SharedWork } from '../../../lib/shared-work.ts';
import type { Job } from '../../../schema/index.ts';
import type { Experiment } from '../../../store/index.ts';
import { spentByAll } from '../../experiment-models.ts';
import { type JobHost, type Machine, workerHost } from '../../jobs/job-host.ts';
import { openRegistry } from '../../open-registry.ts';
import type { ExperimentModels } from '../../tool-model.ts';
import type { TaskResources } from '../../workspace.ts';
import { FleetQuota, keepFleetPace } from './fleet-quota.ts';
import { experimentKey } from './keys.ts';

/** The number of experiments that are kept open, with their plans. */
const maxOpen = 8;

/**
 * What a worker's jobs share: resources that are opened once, and quotas and rate limits that are shared with other
 * workers.
 */
export class FleetHost {
  readonly host: JobHost;
  readonly #machine: Machine;
  readonly #redis: Redis;
  readonly #worker: string;
  readonly #experiments = new Map<string, { stamp: string; experiment: Experiment }>();
  readonly #resources = new Map<string, SharedWork<TaskResources>>();
  readonly #models = new Map<string, ExperimentModels | undefined>();
  readonly #quotas = new Map<string, FleetQuota>();

  constructor(machine: Machine, redis: Redis, worker: string) {
    this.#machine = machine;
    this.#redis = redis;
    this.#worker = worker;
    const alone = workerHost(machine);
    this.host = {
      ...alone,
      experiment: (job) => this.#experiment(job, alone),
      resources: (job, signal) => this.#resourcesOf(job, alone, signal),
      models: (job, experiment) => this.#modelsOf(job, experiment),
    };
  }

  /** Waits until Redis knows of the end of all calls. */
  async settled(): Promise<void> {
    await Promise.all([...this.#quotas.values()].map((quota) => quota.settled()));
  }

  #experiment(job: Job, alone: JobHost): Experiment {
    const stamp = stampOf(join(job.experiment, 'plan.json'));
    const known = this.#experiments.get(job.experiment);
    if (known !== undefined && stamp !== '' && known.stamp === stamp) return known.experiment;
    const experiment = alone.experiment(job);
    this.#experiments.delete(job.experiment);
    this.#experiments.set(job.experiment, { stamp, experiment });
    for (const folder of [...this.#experiments.keys()].slice(0, -maxOpen)) this.#experiments.delete(folder);
    return experiment;
  }

  /** The resources of a task, created once for all jobs that want the same. */
  #resourcesOf(job: Job, alone: JobHost, signal: AbortSignal): Promise<TaskResources> {
    const wanted = JSON.stringify([job.task, job.provisioning, job.run.caveats]);
    const known = this.#resources.get(wanted);
    if (known !== undefined && !known.isStopped) return known.join(signal);
    const work = new SharedWork((needed) => alone.resources(job, needed));
    this.#resources.set(wanted, work);
    return work.join(signal).catch((error: unknown) => {
      if (!signal.aborted && this.#resources.get(wanted) === work) this.#resources.delete(wanted);
      throw error;
    });
  }

  #modelsOf({ run, models, quota, experiment: folder }: Job, experiment: Experiment) {
    if (models === undefined) return undefined;
    const wanted = JSON.stringify([folder, models, quota, run.roles, run.limits.money === undefined]);
    if (this.#models.has(wanted)) return this.#models.get(wanted);
    const registry = openRegistry(
      { runs: [run], providers: models.providers, prices: models.prices, spend: quota },
      {
        variables: this.#machine.variables,
        folder: models.folder,
        sharedPace: (provider, pace, signal) => keepFleetPace(this.#redis, provider, pace, signal),
      },
    );
    const isLimited = quota.tokens !== undefined || quota.money !== undefined;
    const shared = isLimited ? this.#quota(folder, quota, experiment) : null;
    const found = registry && { registry, shared };
    this.#models.set(wanted, found);
    return found;
  }

  #quota(folder: string, limits: Job['quota'], experiment: Experiment): FleetQuota {
    const wanted = JSON.stringify([folder, limits]);
    const known = this.#quotas.get(wanted);
    if (known !== undefined) return known;
    const quota = new FleetQuota({
      ...{ redis: this.#redis, experiment: experimentKey(folder), worker: this.#worker, limits },
      spent: () => spentSoFar(experiment, folder),
    });
    this.#quotas.set(wanted, quota);
    return quota;
  }
}

/** @throws UserError `quota_unknown` if the use of other runs is not known here */
function spentSoFar(experiment: Experiment, folder: string): { tokens: number; money: number } {
  if (experiment.folder === folder) return spentByAll(experiment);
  throw new UserError(
    'quota_unknown',
    `Redis no longer knows what the runs of ${experiment.plan.name} have spent.`,
    'Run the mlab run command of the experiment again: it counts what was spent.',
  );
}

function stampOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.ino} ${found.mtimeMs} ${found.size}`;
}
