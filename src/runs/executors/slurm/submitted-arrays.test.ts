import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { fakeKeys } from '../../../../test/fakes/providers/index.ts';
import { examplePlan, exampleRecord, exampleSpec } from '../../../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../../../test/fixtures/temporary-folder.ts';
import { until } from '../../../../test/fixtures/until.ts';
import { ModelRegistry, roleSettings } from '../../../models/index.ts';
import { ExecutorSettings } from '../../../schema/index.ts';
import { createExperiment, openFleet, queuedPlace } from '../../../store/index.ts';
import type { JobProgress } from '../../jobs/job-result.ts';
import { makeRunJob } from '../../jobs/make-jobs.ts';
import { ArrayExecutor } from '../arrays/array-executor.ts';
import { type Outage, outageText } from '../outage.ts';
import { slurm } from './index.ts';
import { SlurmScheduler } from './slurm-scheduler.ts';
import { waitingJobs } from './waiting-jobs.ts';

/** What `squeue --json` prints of the job. */
const running = `echo '{"jobs": [{"array_job_id": 7, "array_task_id": 0, "job_state": "RUNNING",'
echo '"nodes": "n1", "name": "'$name'"}]}'`;

/** A plan with one run and its place, where Slurm's programs are scripts; `sbatch` ends with these lines. */
function makePlace(
  sbatch: string,
  model: string | null,
  settings: Record<string, unknown> = {},
  queue = running,
  runs = ['one'],
) {
  const folder = temporaryFolder();
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const programs = {
    sbatch: `printf '%s\\n' "$@" > ${folder}/submitted\n${sbatch}`,
    squeue: `name=$(sed -n s/--job-name=//p ${folder}/submitted)
${queue}`,
    scontrol: 'echo MaxArraySize = 11',
  };
  for (const [name, lines] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/bash\n${lines}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const roles = roleSettings(model, {}) ?? undefined;
  const plan = { ...examplePlan(runs) };
  const planned = { ...plan, runs: plan.runs.map((run) => ({ ...run, model, roles })) };
  const experiment = createExperiment(join(folder, plan.name), planned);
  const variables = { PATH: [bin, process.env.PATH].join(delimiter), MLAB_GATEWAY_TOKEN: 'a token' };
  const registry = new ModelRegistry({ providers: {}, variables: fakeKeys, folder });
  const place = {
    ...{ experiment, plan: planned, folder: experiment.folder, variables, parallel: undefined },
    ...{ settings: ExecutorSettings.parse({ on: 'slurm', slurm: settings }), command: ['mlab'] },
    ...{ models: model === null ? undefined : { registry, spend: undefined } },
    ...{ log: () => {}, onOutage: (_: Outage) => {}, signal: new AbortController().signal },
  };
  return { place, submitted: () => readFileSync(join(folder, 'submitted'), 'utf8').trim().split('\n') };
}

type Place = ReturnType<typeof makePlace>['place'];

test('what a queued run waits for is asked of Slurm, and unknown where it does not answer', async () => {
  const pending = running.replace('RUNNING', 'PENDING","state_reason": "Resources').replace('"n1"', '""');
  const { place } = makePlace('echo 7', null, {}, pending);
  const { folder } = place.experiment;
  const [run] = place.plan.runs;
  const reasons = new Map([[run?.id, 'Slurm 7_0 (Resources)']]);
  await execute(place, () => expect.poll(() => waitingJobs(folder, place.variables)).toEqual(reasons));
  expect(await waitingJobs(folder, { PATH: '/nowhere' })).toEqual(new Map());
});

/** Gives the run to an executor, which is closed as soon as `isDone`. */
async function execute(
  place: Place,
  isDone: (problem: Promise<unknown>) => Promise<unknown>,
  onProgress: (progress: JobProgress) => void = () => {},
) {
  const { experiment, plan, signal } = place;
  const [run] = plan.runs;
  if (run === undefined) throw new Error('the plan is empty');
  const tasks = new Map();
  const provisioning = { allow_unverified: false };
  const settings = { plan, experiment, tasks, provisioning, modelsFolder: '/', mlab: '1', threads: 1 };
  await using executor = new ArrayExecutor(place, await SlurmScheduler.open(place));
  const result = executor.execute(makeRunJob(run, settings, false), { signal, onProgress });
  return await isDone(result);
}

test.each([
  [
    'through a gateway of which the nodes get the certificate',
    'anthropic/claude-a',
    'https://gateway.example',
  ],
  ['from the nodes', 'anthropic/claude-a', 'node'],
  ['not at all', null, 'https://gateway.example'],
])('a dry run shows the very script that is submitted when runs ask models %s', async (_, model, on) => {
  const settings = { gateway_on: on, gateway_certificate: '/etc/gateway.pem', partition: 'gpu' };
  const { place, submitted } = makePlace('echo 7', model, settings);
  const [shown = ''] = (await slurm.documents?.({ ...place, tasks: new Map() })) ?? [];
  const waves = join(place.folder, 'slurm');
  await execute(place, () => until('it is submitted', () => existsSync(waves) && hasNumber(waves), 10));
  const [script = '', ...options] = submitted().reverse();
  const array = basename(dirname(script));
  const [first, , ...lines] = String(shown).replaceAll('mlab-ARRAY', array).split('\n');
  expect(lines.join('\n')).toBe(readFileSync(script, 'utf8'));
  expect(lines.includes('export NODE_EXTRA_CA_CERTS=/etc/gateway.pem')).toBe(on !== 'node' && model !== null);
  for (const option of options.filter((each) => each !== '--parsable')) expect(first).toContain(option);
});

test('a dry run shows the arrays of runs and gradings that are submitted, in the sizes that the cluster allows', async () => {
  const { place } = makePlace('echo 7', null);
  const plan = examplePlan(Array.from({ length: 25 }, (_, index) => `run-${index}`));
  const [shown = ''] = (await slurm.documents?.({ ...place, plan, tasks: new Map() })) ?? [];
  const submissions = String(shown)
    .split('\n')
    .filter((line) => line.startsWith('# sbatch '));
  expect(
    submissions.map((line) => [/--array=(\S+)/.exec(line)?.[1], line.includes('aftercorr:RUNS')]),
  ).toEqual([
    ['0-9', false],
    ['0-9', true],
    ['0-9', false],
    ['0-9', true],
    ['0-4', false],
    ['0-4', true],
  ]);
});

test('if Slurm does not answer when a command follows its jobs again, its reason is told, once', async () => {
  const down = `echo "squeue: error: fetch_config: DNS SRV lookup failed" >&2
echo "squeue: fatal: Could not establish a configuration source" >&2; exit 1`;
  const { place } = makePlace('echo 7', null, {}, `if [ -e $0.down ]; then ${down}; fi\n${running}`);
  const waves = join(place.folder, 'slurm');
  await execute(place, () => until('it is submitted', () => existsSync(waves) && hasNumber(waves), 10));
  const flag = join(dirname(place.folder), 'bin', 'squeue.down');
  writeFileSync(flag, '');
  const told: string[] = [];
  const again = { ...place, onOutage: (outage: Outage) => void told.push(outageText(outage)) };
  await execute(again, async () => {
    await until('it is told', () => told.length > 0, 10);
    await setTimeout(2_500);
    rmSync(flag);
    await until('it answers', () => told.length > 1, 10);
  });
  expect(told).toEqual([
    'Slurm does not answer (Could not establish a configuration source). Running jobs continue; it is tried again until it answers.',
    'Slurm answers again.',
  ]);
});

function hasNumber(waves: string): boolean {
  return readdirSync(waves).some(
    (name) => name !== 'lock' && readFileSync(join(waves, name, 'wave.json'), 'utf8').includes('"id":"7"'),
  );
}

test('runs that Slurm refuses are listed as failed since they were not submitted, and leave no array', async () => {
  const { place } = makePlace('echo "sbatch: error: invalid partition specified: nowhere" >&2; exit 1', null);
  await execute(place, async (result) => {
    await expect(result).rejects.toThrow('Slurm rejected the jobs: sbatch: error: invalid partition');
  });
  const fleet = openFleet(place.folder);
  expect(fleet.queued.map((id) => queuedPlace(id, fleet))).toEqual([
    {
      state: 'failed',
      where: '',
      why: 'not submitted: Slurm rejected the jobs: sbatch: error: invalid partition specified: nowhere',
    },
  ]);
  expect(readdirSync(join(place.folder, 'slurm')).filter((name) => name.startsWith('mlab-'))).toEqual([]);
});

test.each([
  ['no configuration', 'fatal: Could not establish a configuration source'],
  ['no authentication', 'error: Munge encode failed: Failed to access "/run/munge/munge.socket.2"'],
])('jobs are not called rejected where Slurm has %s, and the reason is told', async (_, line) => {
  const { place } = makePlace(`echo "sbatch: ${line.replaceAll('"', '\\"')}" >&2; exit 1`, null);
  const why = `Slurm can't be reached: ${line.replace(/^\w+: /, '')}`;
  const error = {
    code: 'scheduler_unreachable',
    message: why,
    hint: expect.stringMatching(/sinfo.*SLURM_CONF/),
  };
  await execute(place, async (result) => {
    await expect(result).rejects.toMatchObject(error);
  });
  const fleet = openFleet(place.folder);
  expect(fleet.queued.map((id) => queuedPlace(id, fleet).why)).toEqual([`not submitted: ${why}`]);
  const doctor = { ...place, version: '1', folder: join(place.folder, 'doctor') };
  await expect(slurm.check?.('slurm', doctor)).rejects.toMatchObject(error);
});

test('runs of an array that Slurm accepted are followed, though it refuses the next array', async () => {
  const sbatch = `if [ -e $0.7 ]; then echo "sbatch: error: too many jobs" >&2; exit 1; fi; touch $0.7; echo 7`;
  const { place } = makePlace(sbatch, null, { array_size: 1 }, running, ['one', 'two']);
  const { experiment, plan, signal } = place;
  const settings = { plan, experiment, tasks: new Map(), provisioning: { allow_unverified: false } };
  await using executor = new ArrayExecutor(place, await SlurmScheduler.open(place));
  const [first, second] = plan.runs.map((run) => {
    const job = makeRunJob(run, { ...settings, modelsFolder: '/', mlab: '1', threads: 1 }, false);
    return executor.execute(job, { signal, onProgress: () => {} });
  });
  const followed = Promise.resolve(first).then(() => 'the first has ended');
  expect(await Promise.race([second, followed])).toEqual({
    record: null,
    problem: 'not submitted: Slurm rejected the jobs: sbatch: error: too many jobs',
  });
  expect([...openFleet(place.folder).unqueued.keys()]).toEqual(['two']);
});

test.each(['--job-name=mine', '--arr=0-9', '--signal', '--export=ALL'])(
  'options by which mlab finds its jobs again are refused: %s',
  (option) => {
    expect(() => ExecutorSettings.parse({ slurm: { options: [option] } })).toThrow('mlab itself sets');
    const others = ['--reservation=night', '--nice', '--exclude=n1', '--mail-type=END'];
    expect(ExecutorSettings.parse({ slurm: { options: others } }).slurm?.options).toEqual(others);
  },
);

test.each([
  ['running', running],
  ['queued', running.replace('RUNNING', 'PENDING","state_reason": "Resources')],
])('a job that is left while it is %s has this as its result', async (left, queue) => {
  const { place } = makePlace('echo 7', null, {}, queue);
  const told: JobProgress[] = [];
  let result: Promise<unknown> = Promise.resolve();
  const isTold = async (given: Promise<unknown>) => {
    result = given;
    await until('Slurm is asked', () => told.length > 0, 10);
  };
  await execute(place, isTold, (progress) => told.push(progress));
  expect(await result).toMatchObject({ record: null, left });
});

test.each([
  ['is shown as started, not as resumed, if its worker was quicker than the first look', false],
  ['is shown as resumed if it had begun before', true],
])('a run on a node %s', async (_, hadBegun) => {
  const { place } = makePlace('echo 7', null);
  const spec = exampleSpec('one');
  const begin = () => place.experiment.runFolder(spec.id).writeRecordSync(exampleRecord({ spec }));
  if (hadBegun) begin();
  const told: JobProgress[] = [];
  await execute(
    place,
    async (result) => {
      begin();
      await Promise.race([
        result,
        until('it starts', () => told.some(({ kind }) => kind === 'run_started'), 10),
      ]);
    },
    (progress) => told.push(progress),
  );
  expect(told).toContainEqual(expect.objectContaining({ kind: 'run_started', resumed: hadBegun }));
});
