import { ApiException, BatchV1Api, CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { messageOf, UserError } from '../../../lib/errors.ts';
import type { Job, KubernetesSettings } from '../../../schema/index.ts';
import { type ArrayScheduler, type JobArray, refusal } from '../arrays/array-scheduler.ts';
import type { JobStates } from '../arrays/job-state.ts';
import type { ExecutorPlace } from '../executor-kind.ts';
import { all, isAnswer, isSilence } from './answers.ts';
import { statesOf } from './job-states.ts';
import { experimentLabel, jobManifest, labelOf, resourcesOf } from './manifest.ts';

/** The most pods that the control plane keeps for one Indexed Job with a limit for each index. */
const maxIndices = 10_000;
const nobodysServer = 'http://localhost:8080';

/** Runs arrays as Indexed Jobs of a Kubernetes cluster, by its API. */
export class KubernetesScheduler implements ArrayScheduler {
  readonly name = 'Kubernetes';
  readonly folderName = 'kubernetes';
  // Kubernetes jobs can't wait for each other: gradings are submitted when their runs have ended.
  readonly chains = false;
  // A deleted pod of an Indexed Job is replaced.
  readonly cancelsJobs = false;
  readonly #settings: KubernetesSettings;
  readonly #place: ExecutorPlace;
  readonly #jobs: BatchV1Api;
  readonly #pods: CoreV1Api;
  #hasAnswered = false;
  #trouble = '';

  /** @throws UserError `no_kubernetes` */
  constructor(place: ExecutorPlace, settings: KubernetesSettings) {
    this.#settings = settings;
    this.#place = place;
    const config = configFor(settings);
    this.#jobs = config.makeApiClient(BatchV1Api);
    this.#pods = config.makeApiClient(CoreV1Api);
  }

  get threads(): number {
    return this.#settings.cores;
  }

  asksFor(job: Job): unknown {
    return resourcesOf(job, this.#settings);
  }

  async mostOfArray(): Promise<number> {
    return maxIndices;
  }

  changed(job: Job): Job {
    return job;
  }

  prepare(): void {}

  async submit(array: JobArray): Promise<string | null> {
    const { namespace } = this.#settings;
    const body = jobManifest(array, this.#place.experiment.plan.name, this.#settings, this.#place);
    try {
      await this.#jobs.createNamespacedJob({ namespace, body });
      this.#hasAnswered = true;
    } catch (error) {
      // An earlier try of this submission was accepted.
      if (isAnswer(error, 409)) return array.name;
      if (isSilence(error, this.#hasAnswered)) return null;
      throw refused(error, this.#settings);
    }
    return array.name;
  }

  get trouble(): string {
    return this.#trouble;
  }

  async queue(): Promise<JobStates | null> {
    const { namespace } = this.#settings;
    const labelSelector = `${experimentLabel}=${labelOf(this.#place.experiment.plan.name)}`;
    try {
      const [jobs, pods] = [
        await all((more) => this.#jobs.listNamespacedJob({ namespace, labelSelector, ...more })),
        await all((more) => this.#pods.listNamespacedPod({ namespace, labelSelector, ...more })),
      ];
      this.#hasAnswered = true;
      return statesOf(jobs, pods);
    } catch (error) {
      if (isSilence(error, this.#hasAnswered)) {
        this.#trouble = troubleOf(error);
        return null;
      }
      throw refused(error, this.#settings);
    }
  }

  async accounted(): Promise<JobStates> {
    return new Map();
  }

  async cancel(ids: readonly string[]): Promise<boolean> {
    const { namespace } = this.#settings;
    for (const name of new Set(ids)) {
      try {
        // The job is listed until its pods have ended, which may take them some time.
        await this.#jobs.deleteNamespacedJob({ name, namespace, propagationPolicy: 'Foreground' });
      } catch (error) {
        if (isSilence(error, this.#hasAnswered)) return false;
        if (!isAnswer(error, 404)) throw refused(error, this.#settings);
      }
    }
    return true;
  }

  cancelCommand(ids: readonly string[]): string {
    return `kubectl delete job --namespace ${this.#settings.namespace} ${ids.join(' ')}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** @throws UserError `no_kubernetes` */
export function configFor(settings: KubernetesSettings): KubeConfig {
  const config = new KubeConfig();
  try {
    config.loadFromDefault();
    if (isMadeUp(config))
      throw new Error('there is none, neither in KUBECONFIG or ~/.kube/config nor of a pod that this is');
    if (settings.context !== undefined) config.setCurrentContext(settings.context);
    if (config.getCurrentCluster() === null) throw new Error('it names no cluster');
  } catch (error) {
    throw new UserError(
      'no_kubernetes',
      `The kubectl configuration can't be used: ${messageOf(error)}`,
      'kubectl get jobs must work here. Choose another file with KUBECONFIG, or a context with executor.kubernetes.context.',
      { cause: error },
    );
  }
  return config;
}

/** The client's default if nothing is configured: a server on this machine that almost never exists. */
function isMadeUp(config: KubeConfig): boolean {
  return config.currentContext === 'loaded-context' && config.getCurrentCluster()?.server === nobodysServer;
}

function refused(error: unknown, { namespace }: KubernetesSettings): UserError {
  return new UserError(
    refusal,
    `Kubernetes rejected the request: ${troubleOf(error)}`,
    `Change executor.kubernetes in the experiment file; kubectl auth can-i create jobs --namespace ${namespace} shows what is allowed.`,
  );
}

function troubleOf(error: unknown): string {
  return error instanceof ApiException ? messageIn(error.body) : messageOf(causeOf(error));
}

/** `fetch failed` alone is not informative. */
function causeOf(error: unknown): unknown {
  return error instanceof TypeError && error.cause !== undefined ? error.cause : error;
}

/** The message in a `Status`, given as text or parsed. */
function messageIn(body: unknown): string {
  try {
    const read: unknown = typeof body === 'string' ? JSON.parse(body) : body;
    if (typeof read === 'object' && read !== null && 'message' in read) return String(read.message);
  } catch {
    // It is passed on as it is.
  }
  return String(body).slice(0, 500);
}
