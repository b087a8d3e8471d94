import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openExperiment, readTraceSync } from '../src/store/index.ts';
import { FakeKubernetes } from './fakes/kubernetes.ts';
import { fixtureTasks, TaskBench } from './fixtures/fixture-task.ts';
import { launcher, startMlab } from './fixtures/mlab-process.ts';
import { until } from './fixtures/until.ts';

const agent = join(import.meta.dirname, 'fixtures/slurm/counting-agent.ts');

describe('a Kubernetes cluster (a local server that speaks its API)', () => {
  const bench = new TaskBench();
  let cluster: FakeKubernetes;

  beforeAll(async () => {
    await bench.provision();
    const variables = { PATH: process.env.PATH ?? '', HOME: bench.folder };
    cluster = await FakeKubernetes.start(variables);
    writeFileSync(join(bench.folder, 'kubeconfig'), JSON.stringify(cluster.configuration));
  });
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    bench[Symbol.dispose]();
  });

  const kubernetes = {
    ...{ image: 'mlab', secrets: ['model-keys'], command: `${process.execPath} ${launcher}` },
    volumes: [bench.folder, fixtureTasks].map((path) => ({ claim: 'shared', path })),
  };

  function start(name: string, changes: Record<string, unknown>, ...flags: string[]) {
    return startBy(join(bench.folder, 'kubeconfig'), name, changes, ...flags);
  }

  function startBy(kubeconfig: string, name: string, changes: Record<string, unknown>, ...flags: string[]) {
    const file = join(bench.folder, `${name}.yaml`);
    const experiment = { name, tasks: ['sums'], agents: [agent], sandbox: 'none' };
    writeFileSync(file, JSON.stringify({ ...experiment, executor: { kubernetes }, ...changes }));
    const places = ['--task-dir', fixtureTasks, '--dir', bench.experiments];
    const variables = { MLAB_CACHE: bench.cache, HOME: bench.folder, KUBECONFIG: kubeconfig };
    return startMlab(['run', file, ...places, ...flags], { folder: bench.folder, variables });
  }

  test('executes the runs of an experiment as one Indexed Job, and grades them by another, despite failures of the API', async () => {
    // The first try is accepted, and its answer breaks off.
    cluster.failures.push('cut', 'cut', 503, 500);
    const flags = ['--on', 'kubernetes', '--agent-option', 'rounds=1'];
    const end = await start('plain', { seeds: 3, parallel: 2 }, ...flags).ended;
    expect(end.code, end.err).toBe(0);
    expect(end.err.match(/score 4.5/g)).toHaveLength(3);
    const { created } = cluster;
    expect(created.map(({ spec }) => spec?.completions)).toEqual(
      expect.arrayContaining([3, expect.any(Number)]),
    );
    expect(created[0]?.spec).toMatchObject({ completionMode: 'Indexed', parallelism: 2 });
    const again = await start('plain', { seeds: 3 }, '--agent-option', 'rounds=1').ended;
    expect(again.code, again.err).toBe(0);
    expect(cluster.created).toHaveLength(created.length);
  });

  test('shows the manifest for a plan, without creating anything', async () => {
    const before = cluster.created.length;
    const end = await start('shown', { seeds: 2 }, '--on', 'kubernetes', '--dry-run').ended;
    expect(end.code, end.err).toBe(0);
    expect(end.out).toMatch(/^# shown: 2 runs, executed on kubernetes\n/);
    expect(end.out).toContain('completionMode: Indexed');
    expect(end.out).toContain('name: model-keys');
    expect(cluster.created).toHaveLength(before);
    expect(() => openExperiment(join(bench.experiments, 'shown'))).toThrow();
  });

  test('resumes a run from its last step when its pod is evicted, and follows again after Ctrl-C', async () => {
    const flags = ['--on', 'kubernetes', '--agent-option', 'rounds=8'];
    const first = start('evicted', {}, ...flags);
    const experiment = () => openExperiment(join(bench.experiments, 'evicted'));
    const trace = () => {
      const [id] = experiment().runIds;
      if (id === undefined) throw new Error('the plan is empty');
      return experiment().runFolder(id).tracePath;
    };
    const hasStep = () => {
      try {
        return readFileSync(trace(), 'utf8').includes('"step":2');
      } catch {
        return false;
      }
    };
    await until('a step is there', hasStep);
    cluster.evict();
    first.process.kill('SIGINT');
    expect((await first.ended).code).toBe(130);
    const created = cluster.created.length;
    const second = await start('evicted', {}, ...flags).ended;
    expect(second.code, second.err).toBe(0);
    // Only the grading is new.
    expect(cluster.created).toHaveLength(created + 1);
    const { events } = readTraceSync(trace());
    expect(events.filter(({ kind }) => kind === 'session_started').length).toBeGreaterThanOrEqual(2);
    const steps = events.flatMap((event) => (event.kind === 'step_finished' ? [event.step] : []));
    expect(steps).toEqual(steps.map((_, index) => index + 1));
  });

  test('says where its runs are, and ends them after the second Ctrl-C', async () => {
    const started = start('ended', {}, '--on', 'kubernetes', '--agent-option', 'rounds=500');
    await until('it says where the run is', () =>
      /(started|resumed) on node-1 \(Kubernetes mlab-[0-9a-f]{12}_0\)/.test(started.said()),
    );
    started.process.kill('SIGINT');
    await until('it says so', () => started.said().includes('again within'));
    // Two within 100 ms count as one.
    await sleep(200);
    started.process.kill('SIGINT');
    const end = await started.ended;
    expect(end.code, end.err).toBe(130);
    expect(end.out).toMatch(/1 job was cancelled\. What/);
    expect(cluster.runningPods).toEqual([]);
  });

  test('cancels the jobs that another terminal follows, and says so only when their pods have ended', async () => {
    const flags = ['--on', 'kubernetes', '--agent-option', 'rounds=500'];
    const followed = start('ended-elsewhere', { seeds: 2 }, ...flags);
    await until('a run is under way', () => followed.said().includes(' on node-1 '));
    const cancel = async (target: string, ...flags: string[]) => {
      const variables = { HOME: bench.folder, KUBECONFIG: join(bench.folder, 'kubeconfig') };
      const argv = ['runs', 'cancel', target, '--dir', bench.experiments, ...flags];
      return await startMlab(argv, { folder: bench.folder, variables }).ended;
    };
    const unset = await cancel('ended-elsewhere');
    expect(unset).toMatchObject({ code: 2, err: expect.stringContaining('Set executor.kubernetes.image') });
    const created = cluster.created.length;
    const settings = join(bench.folder, 'ended-elsewhere.yaml');
    expect(await cancel('ended-elsewhere/*-0', '--settings', settings)).toMatchObject({
      code: 1,
      out: 'ended-elsewhere: Kubernetes can only cancel all jobs of an experiment.\n',
    });
    expect(await cancel('ended-elsewhere', '--settings', settings)).toMatchObject({
      code: 0,
      out: expect.stringContaining('ended-elsewhere: 2 jobs were cancelled. What'),
    });
    expect(cluster.runningPods).toEqual([]);
    const end = await followed.ended;
    expect([end.code, end.out]).toEqual([1, expect.stringContaining('cancelled by another command')]);
    expect(cluster.created).toHaveLength(created);
  });

  test('accepts a configuration in several files, as kubectl does', async () => {
    const { users, ...rest } = cluster.configuration;
    const [first, second] = [join(bench.folder, 'clusters.yaml'), join(bench.folder, 'users.yaml')];
    writeFileSync(first, JSON.stringify({ ...rest, users: [] }));
    const own = { apiVersion: 'v1', kind: 'Config', clusters: [], contexts: [] };
    writeFileSync(second, JSON.stringify({ ...own, users }));
    const flags = ['--on', 'kubernetes', '--agent-option', 'rounds=1'];
    const end = await startBy([first, second].join(delimiter), 'parts', {}, ...flags).ended;
    expect(end.code, end.err).toBe(0);
  });

  test('says at once that there is no configuration, or that the certificate of the server is not trusted', async () => {
    const flags = ['--on', 'kubernetes', '--agent-option', 'rounds=1'];
    const none = await startBy('', 'unknown', {}, ...flags).ended;
    expect(none.code).toBe(3);
    expect(none.err).toContain('there is none');
    const [key, certificate] = [join(bench.folder, 'key.pem'), join(bench.folder, 'certificate.pem')];
    const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost', '-days', '2'];
    execFileSync('openssl', [...made, '-keyout', key, '-out', certificate], { stdio: 'ignore' });
    const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const configuration = structuredClone(cluster.configuration);
    configuration.clusters = [
      { name: 'fake', cluster: { server: `https://127.0.0.1:${port}`, 'insecure-skip-tls-verify': false } },
    ];
    const file = join(bench.folder, 'kubeconfig-untrusted');
    writeFileSync(file, JSON.stringify(configuration));
    const untrusted = await startBy(file, 'untrusted', {}, ...flags).ended;
    server.close();
    expect(untrusted.err).toMatch(/Kubernetes rejected the request: .*certificate/);
    expect(untrusted.code).not.toBe(0);
  });

  test('says what is missing: settings, a configuration, the permission to create jobs', async () => {
    const none = join(bench.folder, 'none.yaml');
    writeFileSync(none, JSON.stringify({ name: 'none', tasks: ['sums'], agents: ['noop'] }));
    const flags = ['--task-dir', fixtureTasks, '--dir', bench.experiments, '--on', 'kubernetes'];
    const options = { folder: bench.folder, variables: { MLAB_CACHE: bench.cache } };
    const unset = await startMlab(['run', none, ...flags], options).ended;
    expect(unset.code).toBe(2);
    expect(unset.err).toContain('Set executor.kubernetes.image');
    const elsewhere = { ...kubernetes, volumes: [{ claim: 'shared', path: '/elsewhere' }] };
    const unmounted = await start('unmounted', { executor: { kubernetes: elsewhere } }, '--on', 'kubernetes')
      .ended;
    expect(unmounted.code).toBe(2);
    expect(unmounted.err).toContain("Pods can't see");
    cluster.failures.push(403, 403, 403);
    const refused = await start('refused', {}, '--on', 'kubernetes', '--agent-option', 'rounds=1').ended;
    expect(refused.err).toContain('Kubernetes rejected the request: failure 403');
    cluster.failures.length = 0;
  });
});
