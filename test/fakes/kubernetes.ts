import { type ChildProcess, spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { V1Job, V1Pod } from '@kubernetes/client-node';

interface Running {
  pod: V1Pod;
  process: ChildProcess;
}

interface KnownJob {
  job: V1Job;
  pods: Running[];
  completed: Set<number>;
  failed: Map<number, number>;
}

/**
 * The part of the Kubernetes API that mlab uses, over HTTP, and the controllers behind it: Indexed Jobs create pods,
 * and a pod's command runs as a process of this machine, without a container.
 */
export class FakeKubernetes implements AsyncDisposable {
  readonly #jobs = new Map<string, KnownJob>();
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #variables: Record<string, string>;
  /**
   * Faults of the next requests: status codes of failures, or `cut`: the request is executed, and the answer breaks
   * off.
   */
  readonly failures: (number | 'cut')[] = [];
  readonly created: V1Job[] = [];

  private constructor(variables: Record<string, string>) {
    this.#variables = variables;
  }

  /** @param variables of every pod */
  static async start(variables: Record<string, string>): Promise<FakeKubernetes> {
    const fake = new FakeKubernetes(variables);
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  /** A kubectl configuration for it, as a document. */
  get configuration() {
    const server = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return {
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'fake' },
      // The client accepts plain HTTP only with this.
      clusters: [{ name: 'fake', cluster: { server, 'insecure-skip-tls-verify': true } }],
      contexts: [{ name: 'fake', context: { cluster: 'fake', user: 'me' } }],
      users: [{ name: 'me', user: { token: 'a-token-of-the-cluster' } }],
    };
  }

  get jobNames(): string[] {
    return [...this.#jobs.keys()];
  }

  get runningPods(): V1Pod[] {
    return [...this.#jobs.values()].flatMap(({ pods }) =>
      pods.flatMap(({ pod }) => (pod.status?.phase === 'Running' ? [pod] : [])),
    );
  }

  /** As if its node were drained: the pod is asked to end, and its job creates another one. */
  evict(): void {
    for (const { pods } of this.#jobs.values())
      for (const { pod, process } of pods) {
        if (pod.status?.phase !== 'Running') continue;
        pod.status.conditions = [{ type: 'DisruptionTarget', status: 'True' }];
        process.kill('SIGTERM');
      }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const known of this.#jobs.values()) this.#end(known);
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const failure = this.failures.shift();
    const reply = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      if (failure === 'cut') {
        response.write(JSON.stringify(body).slice(0, 9), () => response.destroy());
        return;
      }
      response.end(JSON.stringify(body));
    };
    const { pathname } = new URL(request.url ?? '/', 'http://fake');
    const name = pathname.split('/jobs/')[1];
    if (typeof failure === 'number') return reply(failure, { kind: 'Status', message: `failure ${failure}` });
    if (request.headers.authorization !== 'Bearer a-token-of-the-cluster')
      return reply(401, { kind: 'Status', message: 'Unauthorized' });
    if (pathname.endsWith('/jobs') && request.method === 'POST') {
      const job = (await json(request)) as V1Job;
      if (this.#jobs.has(job.metadata?.name ?? ''))
        return reply(409, { kind: 'Status', message: 'already exists' });
      this.#begin(job);
      return reply(201, job);
    }
    if (name !== undefined && request.method === 'DELETE') {
      const known = this.#jobs.get(name);
      if (known === undefined) return reply(404, { kind: 'Status', message: 'not found' });
      this.#end(known);
      // Deletion in the foreground: it is listed until its pods have ended.
      known.job.metadata = { ...known.job.metadata, deletionTimestamp: new Date() };
      this.#removeIfDeleted(known);
      return reply(200, { kind: 'Status', status: 'Success' });
    }
    const known = [...this.#jobs.values()];
    if (pathname.endsWith('/jobs')) return reply(200, { kind: 'JobList', items: known.map(withStatus) });
    if (pathname.endsWith('/pods'))
      return reply(200, { kind: 'PodList', items: known.flatMap(({ pods }) => pods.map(({ pod }) => pod)) });
    reply(404, { kind: 'Status', message: `no ${request.method} ${pathname}` });
  }

  #begin(job: V1Job): void {
    this.created.push(job);
    const known: KnownJob = { job, pods: [], completed: new Set(), failed: new Map() };
    this.#jobs.set(job.metadata?.name ?? '', known);
    this.#fill(known);
  }

  #fill(known: KnownJob): void {
    const { spec } = known.job;
    for (let index = 0; index < (spec?.completions ?? 0); index += 1) {
      const running = known.pods.filter(({ pod }) => pod.status?.phase === 'Running');
      const isThere = running.some(({ pod }) => indexOf(pod) === index);
      const isOver =
        known.completed.has(index) || (known.failed.get(index) ?? 0) > (spec?.backoffLimitPerIndex ?? 0);
      if (!isThere && !isOver && running.length < (spec?.parallelism ?? 1)) this.#beginPod(known, index);
    }
  }

  #beginPod(known: KnownJob, index: number): void {
    const { spec, metadata } = known.job;
    const container = spec?.template.spec?.containers[0];
    const [command = '', ...argv] = container?.command ?? [];
    const own = Object.fromEntries((container?.env ?? []).map(({ name, value = '' }) => [name, value]));
    const env = { ...this.#variables, ...own, JOB_COMPLETION_INDEX: String(index) };
    const pod: V1Pod = {
      metadata: {
        name: `${metadata?.name}-${index}-${known.pods.length}`,
        labels: { ...metadata?.labels, 'batch.kubernetes.io/job-name': metadata?.name ?? '' },
        annotations: { 'batch.kubernetes.io/job-completion-index': String(index) },
      },
      spec: { containers: [], nodeName: 'node-1' },
      status: { phase: 'Running' },
    };
    const process = spawn(command, argv, { env, stdio: 'ignore', detached: true });
    known.pods.push({ pod, process });
    process.once('close', (code) => {
      const isEvicted = pod.status?.conditions?.some(({ type }) => type === 'DisruptionTarget') === true;
      pod.status = { ...pod.status, phase: code === 0 ? 'Succeeded' : 'Failed' };
      if (code === 0) known.completed.add(index);
      else if (!isEvicted) known.failed.set(index, (known.failed.get(index) ?? 0) + 1);
      if (this.#jobs.get(metadata?.name ?? '') !== known) return;
      if (known.job.metadata?.deletionTimestamp === undefined) this.#fill(known);
      else this.#removeIfDeleted(known);
    });
  }

  #removeIfDeleted({ job: { metadata }, pods }: KnownJob): void {
    if (pods.every(({ pod }) => pod.status?.phase !== 'Running')) this.#jobs.delete(metadata?.name ?? '');
  }

  #end({ pods }: KnownJob): void {
    for (const { process } of pods) if (process.exitCode === null) process.kill('SIGTERM');
  }
}

function indexOf({ metadata }: V1Pod): number {
  return Number(metadata?.annotations?.['batch.kubernetes.io/job-completion-index']);
}

function withStatus({ job, completed, failed }: KnownJob): V1Job {
  const limit = job.spec?.backoffLimitPerIndex ?? 0;
  const given = [...failed].filter(([, count]) => count > limit).map(([index]) => index);
  const inOrder = (indices: Iterable<number>) => [...indices].sort((a, b) => a - b).join(',');
  return { ...job, status: { completedIndexes: inOrder(completed), failedIndexes: inOrder(given) } };
}
