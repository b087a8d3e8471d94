import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openExperiment, readTraceSync } from '../src/store/index.ts';
import { fixtureTasks, TaskBench } from './fixtures/fixture-task.ts';
import { startMlab } from './fixtures/mlab-process.ts';
import { chaos } from './fixtures/slurm/chaos.ts';
import { SlurmCluster, whyNoCluster } from './fixtures/slurm/cluster.ts';
import { until } from './fixtures/until.ts';

const missing = whyNoCluster();
const agent = join(import.meta.dirname, 'fixtures/slurm/counting-agent.ts');

describe.skipIf(missing !== null)(
  `a Slurm cluster${missing === null ? '' : ` (skipped: ${missing})`}`,
  () => {
    const bench = new TaskBench();
    let cluster: SlurmCluster;

    beforeAll(async () => {
      await bench.provision();
      cluster = await SlurmCluster.start({ nodes: 3, coresPerNode: 2 });
    }, 60_000);
    // The jobs of a failed test would keep the nodes from the next one.
    afterEach(() => cluster.tryAsk('scancel', '--user=root'));
    afterAll(async () => {
      await cluster?.[Symbol.asyncDispose]();
      bench[Symbol.dispose]();
    });

    function start(name: string, settings: Record<string, unknown> = {}, ...flags: string[]) {
      const file = join(bench.folder, `${name}.yaml`);
      writeFileSync(
        file,
        JSON.stringify({
          name,
          tasks: ['sums'],
          agents: [agent],
          sandbox: 'none',
          executor: { slurm: settings },
        }),
      );
      return begin('run', file, '--task-dir', fixtureTasks, ...flags);
    }

    function begin(...argv: string[]) {
      const variables = { ...cluster.variables, MLAB_CACHE: bench.cache };
      return startMlab([...argv, '--dir', bench.experiments], { folder: bench.folder, variables });
    }

    /**
     * The number of submitted arrays, or of those of runs or gradings alone. On a busy machine, Slurm may drop a grading
     * that waits for its run: then it alone is submitted again.
     */
    function arrays(name: string, kind?: 'run' | 'grade'): number {
      const folder = join(bench.experiments, name, 'slurm');
      const submitted = readdirSync(folder).filter((entry) => entry.startsWith('mlab-'));
      if (kind === undefined) return submitted.length;
      const waves = submitted.map((entry) => readFileSync(join(folder, entry, 'wave.json'), 'utf8'));
      return waves.filter((wave) => JSON.parse(wave).jobs[0].kind === kind).length;
    }

    /** The number of runs of the agent that have a record. */
    function begunIn(name: string): number {
      const runs = join(bench.experiments, name, 'runs');
      const begun = existsSync(runs) ? readdirSync(runs) : [];
      return begun.filter((run) => run.includes('-counting-') && existsSync(join(runs, run, 'run.json')))
        .length;
    }

    const untilThere = (what: string, holds: () => boolean) =>
      until(() => `${what}; the queue: ${cluster.queue().join(', ')}`, holds);

    const isRunning = (): boolean => cluster.queue().some((line) => line.includes('RUNNING'));

    test('executes the runs of an experiment as one array and grades them by another; the same command again finds all done', async () => {
      const end = await start('plain', {}, '--on', 'slurm', '--seeds', '2', '--agent-option', 'rounds=1')
        .ended;
      expect(end.code, end.err).toBe(0);
      expect(end.err.match(/score 4.5/g)).toHaveLength(2);
      const submitted = arrays('plain');
      expect([submitted >= 2, arrays('plain', 'run')]).toEqual([true, 1]);
      const again = await start('plain', {}, '--seeds', '2', '--agent-option', 'rounds=1').ended;
      expect(again.code, again.err).toBe(0);
      expect(arrays('plain')).toBe(submitted);
    });

    test('continues after the first Ctrl-C, is followed again, and ends the jobs after the second one', async () => {
      const flags = ['--on', 'slurm', '--seeds', '2', '--agent-option', 'rounds=60'];
      const first = start('left', {}, ...flags);
      await untilThere('a job runs', isRunning);
      first.process.kill('SIGINT');
      const left = await first.ended;
      expect(left.code).toBe(130);
      expect(left.err).toContain('Ctrl-C again within 5 s cancels them');
      expect(left.out).not.toContain(': interrupted');
      expect(left.out).toContain('Run the same command again to follow them.');
      expect(isRunning()).toBe(true);
      const second = start('left', {}, ...flags);
      await untilThere('it is followed', () =>
        /(started|resumed) on n\d \(Slurm \d+_[01]\)/.test(second.said()),
      );
      expect(arrays('left', 'run')).toBe(1);
      second.process.kill('SIGINT');
      await untilThere('it says so', () => second.said().includes('again within'));
      // Two within 100 ms count as one.
      await sleep(200);
      second.process.kill('SIGINT');
      const ended = await second.ended;
      expect(ended.code, ended.err).toBe(130);
      expect(ended.out).toMatch(/\d jobs were cancelled/);
      expect(cluster.queue()).toEqual([]);
    });

    test('cancels the jobs that another terminal follows; the list of runs says so until they are submitted again', async () => {
      const flags = ['--on', 'slurm', '--seeds', '12', '--agent-option', 'rounds=60'];
      const followed = start('ended-elsewhere', {}, ...flags);
      await untilThere('a job runs', isRunning);
      expect(await begin('runs', 'cancel', 'ended-elsewhere').ended).toMatchObject({
        code: 0,
        out: expect.stringMatching(/^ended-elsewhere: \d+ jobs were cancelled\. What/),
      });
      expect(cluster.queue()).toEqual([]);
      const end = await followed.ended;
      expect([end.code, end.out]).toEqual([1, expect.stringContaining('cancelled by another command')]);
      const listed = await begin('runs', 'ls', 'ended-elsewhere').ended;
      expect(listed.out).toMatch(/12 runs: \d+ cancelled/);
      expect(arrays('ended-elsewhere', 'run')).toBe(1);
    });

    test('a waiting job that a person takes out of the queue stays cancelled; the others go on', async () => {
      const flags = ['--on', 'slurm', '--seeds', '3', '--parallel', '1', '--agent-option', 'rounds=8'];
      flags.push('--log-level', 'debug');
      const followed = start('scancelled', {}, ...flags);
      await untilThere('a job runs', isRunning);
      await untilThere('the last waits', () => /run_queued.*-counting-\S+-2"/.test(followed.said()));
      const [running = ''] = cluster.queue().filter((line) => line.includes('RUNNING'));
      cluster.ask('scancel', running.replace(/_.*/, '_2'));
      const end = await followed.ended;
      expect(end.code, end.err).toBe(1);
      expect(end.out).toContain('cancelled in Slurm');
      expect(end.err).not.toMatch(/-2: submitted again/);
      expect(end.err.match(/score 4.5/g)).toHaveLength(2);
      // Slurm may drop gradings that wait for other runs, too: then these alone are submitted again.
      expect(arrays('scancelled', 'run')).toBe(1);
    });

    test('cancels some runs of an experiment: whoever follows them goes on with the others', async () => {
      const file = join(bench.folder, 'some.yaml');
      const agents = [{ name: agent, options: { rounds: 40, seconds: 8 } }, 'noop'];
      const runs = { seeds: 3, tasks: ['sums'], agents, sandbox: 'none' };
      writeFileSync(file, JSON.stringify({ name: 'some', parallel: 2, ...runs }));
      const followed = begin('run', file, '--on', 'slurm', '--task-dir', fixtureTasks);
      await untilThere(
        'two are under way',
        () => followed.said().match(/-counting-\S+ started on/g)?.length === 2,
      );
      // A job is under way while its worker still starts: what was begun is then interrupted, and not only cancelled.
      await untilThere('one has begun', () => begunIn('some') > 0);
      const { code, out } = await begin('runs', 'cancel', 'some/sums-counting-*').ended;
      // A run and its grading each.
      expect([code, out]).toEqual([0, expect.stringMatching(/^some: 6 jobs were cancelled\. What/)]);
      const end = await followed.ended;
      expect(end.code, end.err).toBe(1);
      const listed = await begin('runs', 'ls', 'some').ended;
      expect(listed.out).toMatch(/6 runs: [12] cancelled, 3 finished, [12] interrupted/);
    });

    test('resumes a run that was stopped before its time limit, in the same job', async () => {
      const started = start('limit', {}, '--on', 'slurm', '--agent-option', 'rounds=6');
      const trace = join(bench.experiments, 'limit/runs');
      const tracePath = () => join(trace, readdirSync(trace)[0] ?? '', 'trace.jsonl');
      await untilThere(
        'a step is there',
        () =>
          existsSync(trace) &&
          existsSync(tracePath()) &&
          readFileSync(tracePath(), 'utf8').includes('"step":2'),
      );
      const [job = ''] =
        cluster
          .queue()
          .find((line) => line.includes('RUNNING'))
          ?.split(' ') ?? [];
      // The signal that Slurm itself sends some time before the limit.
      cluster.ask('scancel', '--batch', '--signal=USR1', job);
      let end: Awaited<typeof started.ended> | undefined;
      void started.ended.then((ended) => {
        end = ended;
      });
      await untilThere('it is queued again and ends', () => {
        cluster.hurry();
        return end !== undefined;
      });
      expect(end?.code, end?.err).toBe(0);
      expect(arrays('limit', 'run')).toBe(1);
      const experiment = openExperiment(join(bench.experiments, 'limit'));
      const [id] = experiment.runIds;
      if (id === undefined) throw new Error('the plan is empty');
      const { events } = readTraceSync(experiment.runFolder(id).tracePath);
      expect(events.filter(({ kind }) => kind === 'session_started')).toHaveLength(2);
    });

    test('reports what Slurm refuses, and the output of a failed job', async () => {
      const refused = await start('refused', { partition: 'nowhere' }, '--on', 'slurm').ended;
      expect(refused.code).toBe(2);
      expect(refused.err).toMatch(/Slurm rejected the jobs: .*invalid partition/is);
      const listed = await begin('runs', 'ls', 'refused').ended;
      expect(listed.out).toMatch(/failed +not submitted: Slurm rejected the jobs: .*\n\n1 run: 1 failed/i);
      const broken = await start('broken', { preamble: 'echo "no such module"; exit 7' }, '--on', 'slurm')
        .ended;
      expect(broken.code).toBe(1);
      expect(broken.out).toMatch(/FAILED.*no such module/s);
    });

    test('mlab doctor --on slurm reports what a node can do', async () => {
      const variables = { ...cluster.variables, MLAB_CACHE: bench.cache };
      const argv = ['doctor', '--on', 'slurm', '--dir', bench.experiments];
      const { err, out } = await startMlab(argv, { folder: bench.folder, variables }).ended;
      expect(out, err).toMatch(/On n\d:\n(?:.*\n)?. Node +v\d/);
      expect(out).toContain('Python');
    });

    test('loses no run and takes no step twice while mlab run, the controller and a node with its jobs are killed', async () => {
      const { made, faults } = await chaos({
        ...{ cluster, bench, name: 'chaos', runs: 5, rounds: 4, seconds: 0.4, pauseMs: 1_500 },
        troubles: ['kill mlab run', 'kill slurmctld', 'cut power of a node'],
        most: 3,
      });
      expect(faults).toEqual([]);
      expect(Object.keys(made).length).toBeGreaterThan(2);
    });
  },
);
