import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Agent } from '../../agents/index.ts';
import { hasCode, UserError } from '../../lib/errors.ts';
import type { Job, RunSpec } from '../../schema/index.ts';
import { type Experiment, openExperiment } from '../../store/index.ts';
import { type HarnessFolders, loadTask, sampleCaveat } from '../../tasks/index.ts';
import { anyAgentOfRun } from '../agents/find-agent.ts';
import { experimentModels } from '../experiment-models.ts';
import type { GpuLeases } from '../gpus/gpu-leases.ts';
import { openRegistry } from '../open-registry.ts';
import type { Bundle } from '../outside/bundle.ts';
import { bundleOfRun } from '../outside/program-bundle.ts';
import { provision } from '../provision.ts';
import type { RunServices } from '../session/run-services.ts';
import type { ExperimentModels } from '../tool-model.ts';
import type { TaskResources } from '../workspace.ts';

/** What a process that executes jobs provides: what belongs to its machine, and what is secret. */
export interface JobHost
  extends Pick<RunServices, 'helpersFolder' | 'dockerCommand' | 'versions' | 'askPerson' | 'gate'> {
  experiment(job: Job): Experiment;
  resources(job: Job, signal: AbortSignal): Promise<TaskResources>;
  /** The installed bundle of a run's agent; null if it has none. Needed for agents that are programs. */
  bundle?(run: RunSpec, signal: AbortSignal): Promise<Bundle | null>;
  /**
   * The agent of a run; default: mlab's agents by their names.
   * @throws UserError `agent_changed`
   */
  agentOf?(run: RunSpec, signal: AbortSignal): Promise<Agent>;
  /** The GPUs of this machine; absent: it has none. */
  gpus?: GpuLeases | undefined;
  /** The language models of the job's run; undefined if it uses none. */
  models(job: Job, experiment: Experiment): ExperimentModels | undefined;
}

/** The machine that a worker runs on. */
export interface Machine extends Pick<JobHost, 'dockerCommand' | 'versions' | 'gpus'> {
  folders: Omit<HarnessFolders, 'experiments'> & { helpers: string };
  /** Environment variables, in which keys are looked up. */
  variables: Readonly<Record<string, string | undefined>>;
  onProgress: (line: string) => void;
}

function experimentOf({ experiment: folder }: Job): Experiment {
  try {
    return openExperiment(folder);
  } catch (error) {
    if (!hasCode(error, 'no_experiment')) throw error;
    throw new UserError(
      'no_experiment',
      `${hostname()} has no experiment in ${folder}.`,
      'Mount the experiments folder there at the same path, or use Redis workers with mlab run --artifacts s3://BUCKET/FOLDER.',
    );
  }
}

/** For a process that knows nothing about a job except its document. */
export function workerHost({ folders, variables, onProgress, ...rest }: Machine): JobHost {
  return {
    ...rest,
    helpersFolder: folders.helpers,
    experiment: experimentOf,
    resources: async ({ task, run, provisioning, experiment }, signal) => {
      const { mirror, interpreter, allow_unverified: allowUnverified } = provisioning;
      const found = loadTask(existsSync(task.folder) ? task.folder : task.id, folders.tasks);
      return await provision(found, {
        ...{ mirror, interpreter, allowUnverified, onProgress, signal },
        sample: run.caveats.includes(sampleCaveat),
        folders: { ...folders, experiments: experiment },
      });
    },
    bundle: (run, signal) => bundleOfRun(run, { cache: folders.cache, onProgress, signal }),
    agentOf: (run, signal) =>
      anyAgentOfRun(run, {
        ...{ cache: folders.cache, helpersFolder: folders.helpers, onProgress, signal },
        ...{ driver: run.sandbox, dockerImage: run.docker_image, dockerCommand: rest.dockerCommand },
      }),
    models: ({ run, models, quota }, experiment) => {
      if (models === undefined) return undefined;
      const { providers, prices, folder } = models;
      const registry = openRegistry({ runs: [run], providers, prices, spend: quota }, { variables, folder });
      return experimentModels({ spend: quota }, { registry, experiment });
    },
  };
}
