import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { examplePlan, exampleRecord, exampleSpec } from '../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../test/fixtures/store/folders.ts';
import { machineIdentity, processStartTime } from '../lib/process-identity.ts';
import { createExperiment, listExperiments, openExperiment } from './experiment.ts';
import { formerLockName, leaseName } from './lease/take-lease.ts';

test('the same plan is opened again, whatever its time, its version of mlab and its parallelism', () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'first');
  const created = createExperiment(path, examplePlan());
  const again = createExperiment(path, { ...examplePlan(), created: 1, mlab: '9.9.9', parallel: 7 });
  expect(again.plan).toEqual(created.plan);
  expect(openExperiment(path).runIds).toEqual(['digits-baseline-0', 'digits-noop-0']);
  expect(readdirSync(path)).toEqual(['plan.json']);
});

test('planned runs are told from branches without reading the files of branches', () => {
  using folder = temporaryFolder();
  const experiment = createExperiment(folder.path, examplePlan());
  mkdirSync(join(folder.path, 'branches'));
  writeFileSync(join(folder.path, 'branches/digits-noop-0-from-1.json'), 'broken');
  expect(experiment.isPlanned('digits-noop-0')).toBe(true);
  expect(experiment.isPlanned('digits-noop-0-from-1')).toBe(false);
});

test('drafts that killed starts left are removed when the plan is opened again, but not those of a start that is under way', () => {
  using folder = temporaryFolder();
  createExperiment(folder.path, examplePlan());
  for (const [name, hours] of Object.entries({
    'plan.json.0123456789ab.tmp': 2,
    'plan.json.ba9876543210.tmp': 0,
  })) {
    writeFileSync(join(folder.path, name), '');
    const time = new Date(Date.now() - hours * 3_600_000);
    utimesSync(join(folder.path, name), time, time);
  }
  createExperiment(folder.path, examplePlan());
  expect(readdirSync(folder.path)).toEqual(['plan.json', 'plan.json.ba9876543210.tmp']);
});

test('another plan is refused, with the differences', () => {
  using folder = temporaryFolder();
  createExperiment(folder.path, examplePlan());
  const [spec] = examplePlan(['digits-baseline-0']).runs;
  if (!spec) throw new Error('one run');
  const changed = { ...spec, seed: 3, limits: { ...spec.limits, steps: 9 } };
  const other = { ...examplePlan(), grade: 'all' as const, runs: [changed, exampleSpec('digits-automl-0')] };
  expect(() => createExperiment(folder.path, other)).toThrow(
    [
      'contains a different plan:',
      '  grade: "final" → "all"',
      '  run digits-baseline-0: seed: 0 → 3',
      '  run digits-baseline-0: limits.steps: 50 → 9',
      '  run digits-noop-0: in the existing plan only',
      '  run digits-automl-0: in the new plan only',
    ].join('\n'),
  );
});

test('a plan of tasks that have changed is refused in words, once for each task', () => {
  using folder = temporaryFolder();
  createExperiment(folder.path, examplePlan());
  const runs = examplePlan().runs.map((run) => ({ ...run, task_version: '0'.repeat(64) }));
  expect(() => createExperiment(folder.path, { ...examplePlan(), runs })).toThrow(
    /contains a different plan:\n {2}the task digits has changed since$/,
  );
});

test('a command whose files have changed is named, once for all of its runs', () => {
  using folder = temporaryFolder();
  const planned = (hash: string) => ({
    ...examplePlan(),
    runs: examplePlan().runs.map((run) => ({
      ...run,
      ...{ agent_options: { command: 'python mine.py' }, agent_version: `sha256:${hash}` },
    })),
  });
  createExperiment(folder.path, planned('0'));
  expect(() => createExperiment(folder.path, planned('1'))).toThrow(
    /contains a different plan:\n {2}the files of the agent python mine\.py have changed since$/,
  );
});

test('the executor of an experiment is recorded beside the plan', () => {
  using folder = temporaryFolder();
  const experiment = createExperiment(folder.path, examplePlan());
  expect(experiment.executor).toBeNull();
  for (const on of ['slurm', 'local']) {
    experiment.recordExecutor(on);
    expect(openExperiment(folder.path).executor).toBe(on);
  }
});

test('experiments are listed by name; other folders are not', () => {
  using folder = temporaryFolder();
  for (const name of ['b', 'a']) createExperiment(join(folder.path, name), examplePlan());
  mkdirSync(join(folder.path, 'empty'));
  writeFileSync(join(folder.path, 'notes.txt'), '');
  expect(listExperiments(folder.path)).toEqual(
    ['a', 'b'].map((name) => ({ name, folder: join(folder.path, name) })),
  );
  expect(listExperiments(join(folder.path, 'nowhere'))).toEqual([]);
});

test.skipIf(process.getuid?.() !== 0)(
  'experiments in closed folders of other users are left out of the list',
  () => {
    using folder = temporaryFolder();
    for (const name of ['first', 'private']) createExperiment(join(folder.path, name), examplePlan());
    chmodSync(folder.path, 0o755);
    chmodSync(join(folder.path, 'private'), 0o700);
    const program = `
    const { listExperiments } = await import(${JSON.stringify(join(import.meta.dirname, 'experiment.ts'))});
    console.log(listExperiments(${JSON.stringify(folder.path)}).map(({ name }) => name).join());`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      uid: 65_534,
      encoding: 'utf8',
    });
    expect(stdout.trim(), stderr).toBe('first');
  },
);

test('folders that are not experiments and ids that are not runs are named in the error', () => {
  using folder = temporaryFolder();
  expect(() => openExperiment(folder.path)).toThrow('it has no plan.json');
  const experiment = createExperiment(folder.path, examplePlan());
  expect(() => experiment.runFolder('../../etc')).toThrow('has no run "../../etc"');
  writeFileSync(join(folder.path, 'plan.json'), '{');
  expect(() => openExperiment(folder.path)).toThrow('plan.json is not JSON');
});

test('a record is read as it was written, with the length of the trace', async () => {
  using folder = temporaryFolder();
  const run = createExperiment(folder.path, examplePlan()).runFolder('digits-baseline-0');
  expect(run.readRecord()).toBeNull();
  using _lock = run.lock();
  run.writeRecordSync(exampleRecord());
  expect(run.readRecord()).toEqual(exampleRecord());
  await using trace = run.openTrace();
  trace.append({ kind: 'output', step: 1, text: 'hello' });
  run.writeRecordSync(exampleRecord());
  expect(run.readRecord()?.trace).toEqual(trace.head);
});

test('a run is locked by one process at a time, and free after its release', () => {
  using folder = temporaryFolder();
  const experiment = createExperiment(folder.path, examplePlan());
  const run = experiment.runFolder('digits-baseline-0');
  for (let round = 0; round < 3; round++) {
    expect(run.holder()).toBeNull();
    using _lock = run.lock();
    expect(run.holder()?.pid).toBe(process.pid);
    expect(() => experiment.runFolder('digits-baseline-0').lock()).toThrow(`process ${process.pid} on`);
    experiment.runFolder('digits-noop-0').lock().release();
  }
  // The file of the last lease stays, so that the next one has a higher epoch.
  expect(readdirSync(join(run.folder, leaseName))).toEqual(['3']);
});

test('exactly one of many concurrent processes gets a run, also after its holder was killed', {
  timeout: 120_000,
}, async () => {
  using folder = temporaryFolder();
  createExperiment(folder.path, examplePlan());
  const contender = join(import.meta.dirname, '../../test/fixtures/store/lock-contender.ts');
  for (let round = 0; round < 3; round++) {
    const children = Array.from({ length: 4 }, () =>
      spawn(process.execPath, [contender, folder.path], { stdio: ['ignore', 'pipe', 'inherit'] }),
    );
    try {
      const answers = await Promise.all(
        children.map(async (child) => String((await once(child.stdout, 'data'))[0]).trim()),
      );
      expect(answers.toSorted()).toEqual(['locked', 'refused', 'refused', 'refused']);
    } finally {
      for (const child of children) child.kill('SIGKILL');
    }
    await Promise.all(children.map((child) => child.exitCode ?? child.signalCode ?? once(child, 'exit')));
  }
});

test('a lease counts as dead when its process number belongs to another process, or its machine is silent', () => {
  using folder = temporaryFolder();
  const run = createExperiment(folder.path, examplePlan()).runFolder('digits-baseline-0');
  run.lock();
  const path = join(run.folder, leaseName, '1');
  const lease = JSON.parse(readFileSync(path, 'utf8')) as object;
  const write = (changes: object) => writeFileSync(path, JSON.stringify({ ...lease, ...changes }));
  expect(() => run.lock()).toThrow(`process ${process.pid} on`);
  const elsewhere = { machine: 'another', lasting: null, host: 'elsewhere' };
  write(elsewhere);
  expect(() => run.lock()).toThrow('on elsewhere');
  const ago = (ms: number) => utimesSync(path, new Date(Date.now() - ms), new Date(Date.now() - ms));
  ago(60_000);
  expect(run.holder()).toBeNull();
  // Its clock may differ by minutes: it counts as dead only after it was watched for a while.
  expect(() => run.lock()).toThrow('on elsewhere');
  ago(2 * 3_600_000);
  run.lock().release();
  write({ started: 'another time' });
  expect(run.holder()).toBeNull();
  run.lock().release();
  expect(run.holder()).toBeNull();
});

test('whether a run on another machine is shown as running does not depend on the clocks of the two machines', () => {
  using folder = temporaryFolder();
  const run = createExperiment(folder.path, examplePlan()).runFolder('digits-baseline-0');
  run.lock();
  const path = join(run.folder, leaseName, '1');
  const lease = JSON.parse(readFileSync(path, 'utf8')) as object;
  const now = Date.now();
  onTestFinished(() => void vi.useRealTimers());
  for (const minutesOff of [-600, -10, 0, 10, 600]) {
    vi.useFakeTimers({ toFake: ['Date'], now: now + minutesOff * 60_000 });
    writeFileSync(path, JSON.stringify({ ...lease, machine: 'another', lasting: null, host: 'elsewhere' }));
    expect.soft(run.holder()?.host, `${minutesOff} minutes off`).toBe('elsewhere');
    utimesSync(path, new Date(now - 120_000), new Date(now - 120_000));
    expect.soft(run.holder(), `${minutesOff} minutes off, its owner gone`).toBeNull();
  }
  expect(readdirSync(join(run.folder, leaseName))).toEqual(['1']);
});

test('a lock of a former version is respected while its owner is alive, and removed afterwards', () => {
  using folder = temporaryFolder();
  const run = createExperiment(folder.path, examplePlan()).runFolder('digits-baseline-0');
  const path = join(run.folder, formerLockName);
  {
    using _former = acquiredFormerLock(path);
    expect(run.holder()?.pid).toBe(process.pid);
    expect(() => run.lock()).toThrow(`process ${process.pid} on`);
  }
  mkdirSync(path, { recursive: true });
  const dead = {
    state: 'held',
    pid: process.pid,
    started: 'long ago',
    machine: machineIdentity(),
    host: 'here',
  };
  writeFileSync(join(path, '7'), JSON.stringify(dead));
  expect(run.holder()).toBeNull();
  using lease = run.lock();
  expect(lease.epoch).toBe(1);
  expect(existsSync(path)).toBe(false);
});

/** As former versions took it. */
function acquiredFormerLock(folder: string): Disposable {
  mkdirSync(folder, { recursive: true });
  const { pid } = process;
  const ticket = {
    state: 'held',
    pid,
    started: processStartTime(pid),
    machine: machineIdentity(),
    host: 'here',
  };
  writeFileSync(join(folder, '1'), JSON.stringify(ticket));
  return { [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}
