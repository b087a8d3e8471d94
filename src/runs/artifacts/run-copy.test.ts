import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { FakeS3, s3Variables } from '../../../test/fakes/s3.ts';
import {
  exampleGrade,
  examplePlan,
  exampleRecord,
  exampleSpec,
  runEnded,
  sessionStarted,
  stepFinished,
  stepStarted,
} from '../../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import type { ObjectId, RunStatus } from '../../schema/index.ts';
import {
  archivedAttempts,
  checkRun,
  createExperiment,
  type Experiment,
  objectIds,
  type RunFolder,
  readTraceSync,
  Snapshotter,
} from '../../store/index.ts';
import { archiveAttempt } from '../archived-attempts.ts';
import { ExperimentCopy } from './experiment-copy.ts';
import { openS3Store } from './open-s3-store.ts';
import { RunCopy } from './run-copy.ts';
import type { S3Store } from './s3-store.ts';

const { signal } = new AbortController();
const id = 'digits-baseline-0';
let server: FakeS3;
let store: S3Store;

beforeAll(async () => {
  server = await FakeS3.start();
  for (const [name, value] of Object.entries(s3Variables(server.url))) vi.stubEnv(name, value);
});
beforeEach(async () => {
  store = await openS3Store('s3://bucket/lab/first', process.env);
});
afterEach(() => {
  store[Symbol.dispose]();
  server.objects.clear();
  server.written();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await server[Symbol.asyncDispose]();
});

const experimentIn = (folder: string): Experiment => createExperiment(join(folder, 'first'), examplePlan());

/** Takes one more step of a run in a workspace of its folder, as a session does. Step 0 begins it. */
async function takeStep(run: RunFolder, step: number, status: RunStatus = 'running'): Promise<void> {
  const workspace = join(run.folder, 'workspace');
  mkdirSync(workspace, { recursive: true });
  mkdirSync(run.outputsFolder, { recursive: true });
  using _lease = run.lock();
  await using trace = run.openTrace();
  using snapshotter = new Snapshotter(run.objects, workspace);
  writeFileSync(join(workspace, 'submission.csv'), `id,target\n1,${step}\n`);
  const { id: snapshot } = await snapshotter.take();
  if (step === 0) trace.append(sessionStarted(snapshot));
  else {
    trace.append(stepStarted(step));
    writeFileSync(join(run.outputsFolder, `step-0000${step}.txt`), `output of ${step}\n`);
    const observation = trace.textRef(`accuracy 0.9${step} `.repeat(400));
    trace.append(stepFinished(step, snapshot, { observation }));
  }
  const end = { reason: 'final_answer' as const, message: '' };
  if (status === 'finished') trace.append(runEnded());
  const isEnded = status === 'finished';
  await run.writeRecord(
    exampleRecord({ spec: exampleSpec(run.id), status, steps: step, end: isEnded ? end : null }),
  );
}

function snapshotOf({ tracePath }: RunFolder): ObjectId {
  const [begun] = readTraceSync(tracePath).events;
  if (begun?.kind !== 'session_started') throw new Error('the run has not begun');
  return begun.snapshot;
}

async function upload(copy: RunCopy, { objects }: RunFolder): Promise<string[]> {
  server.written();
  await copy.upload(() => objectIds(objects.folder));
  return server.written().map((key) => key.replace('lab/first/', ''));
}

/** Another machine that sees the contents of the store. */
async function elsewhere(): Promise<{ copy: RunCopy; run: RunFolder }> {
  const run = experimentIn(temporaryFolder()).runFolder(id);
  const copy = new RunCopy(store, run);
  await copy.look();
  return { copy, run };
}

test('a run is the same elsewhere, with its archived attempts, and its workspace and other runs are not sent', async () => {
  const run = experimentIn(temporaryFolder()).runFolder(id);
  await takeStep(run, 0);
  await archiveAttempt(run);
  await takeStep(run, 0);
  await takeStep(run, 1, 'finished');
  run.appendGrade(exampleGrade(snapshotOf(run)));
  await run.compressTrace();
  symlinkSync(run.gradesPath, join(run.outputsFolder, 'step-00009.txt'));
  const copy = new RunCopy(store, run);
  await copy.claim();
  await upload(copy, run);
  const files = Object.keys(copy.head?.checkpoint.files ?? {}).sort();
  expect(files).toEqual([
    ...['attempts/1/run.json', 'attempts/1/trace.jsonl'],
    ...['grades.jsonl', 'outputs/step-00001.txt', 'run.json', 'trace.jsonl.zst'],
  ]);
  const other = await elsewhere();
  await other.copy.download(signal);
  expect(await checkRun(other.run)).toEqual([]);
  expect(archivedAttempts(other.run)).toHaveLength(1);
  for (const name of files.filter((each) => !each.startsWith('attempts')))
    expect(readFileSync(join(other.run.folder, name))).toEqual(readFileSync(join(run.folder, name)));
  expect(other.copy.isSame).toBe(true);
});

test('contents that share a pack here are sent one by one', async () => {
  const run = experimentIn(temporaryFolder()).runFolder(id);
  const workspace = join(run.folder, 'workspace');
  mkdirSync(workspace, { recursive: true });
  for (let number = 0; number < 600; number += 1)
    writeFileSync(join(workspace, `${number}.txt`), `${number}`);
  await takeStep(run, 0, 'finished');
  expect(readdirSync(join(run.objects.folder, 'packs'))).toHaveLength(1);
  const copy = new RunCopy(store, run);
  await copy.claim();
  await upload(copy, run);
  const other = await elsewhere();
  await other.copy.download(signal);
  expect(await checkRun(other.run)).toEqual([]);
  expect(readdirSync(other.run.objects.folder)).not.toContain('packs');
  expect(objectIds(other.run.objects.folder).sort()).toEqual(objectIds(run.objects.folder).sort());
});

test('existing objects are not sent again, whichever run or machine sent them', async () => {
  const experiment = experimentIn(temporaryFolder());
  const sent: string[] = [];
  const send = async (copy: RunCopy, run: RunFolder) => {
    const keys = await upload(copy, run);
    sent.push(...keys.filter((key) => key.startsWith('objects/')));
    return keys;
  };
  for (const each of experiment.runIds) {
    const run = experiment.runFolder(each);
    await takeStep(run, 0);
    const copy = new RunCopy(store, run);
    await copy.claim();
    // Objects and parts are sent first, and the document that refers to them last.
    expect((await send(copy, run)).at(-1)).toBe(`runs/${each}.json`);
    expect(await upload(copy, run)).toEqual([]);
  }
  // Two snapshots, and the one content that they share.
  expect(sent).toHaveLength(3);
  const machine = await elsewhere();
  await machine.copy.download(signal);
  await machine.copy.claim();
  await takeStep(machine.run, 1);
  await send(machine.copy, machine.run);
  expect(sent).toHaveLength(6);
  expect(new Set(sent).size).toBe(6);
});

test('only the new part of a growing trace is sent, and it consists of few parts', async () => {
  const run = experimentIn(temporaryFolder()).runFolder(id);
  const copy = new RunCopy(store, run);
  await copy.claim();
  for (let step = 0; step < 9; step += 1) {
    await takeStep(run, step);
    await upload(copy, run);
  }
  const parts = copy.head?.checkpoint.files['trace.jsonl'] ?? [];
  const { length } = readFileSync(run.tracePath);
  expect(parts.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(length);
  expect(parts.length).toBeLessThanOrEqual(4);
});

test('a replaced owner cannot change anything any more, and its successor resumes from what was sent', async () => {
  const run = experimentIn(temporaryFolder()).runFolder(id);
  const copy = new RunCopy(store, run);
  expect(await copy.claim()).toBe(1);
  await takeStep(run, 0);
  await takeStep(run, 1);
  await upload(copy, run);
  await takeStep(run, 2);
  const other = await elsewhere();
  expect(await other.copy.claim()).toBe(2);
  await other.copy.download(signal);
  expect(readTraceSync(other.run.tracePath).events.at(-1)).toMatchObject({ kind: 'step_finished', step: 1 });
  await takeStep(other.run, 2, 'finished');
  await upload(other.copy, other.run);
  const last = server.objects.get(`lab/first/runs/${id}.json`);
  await expect(upload(copy, run)).rejects.toMatchObject({ code: 'lease_lost' });
  expect(server.objects.get(`lab/first/runs/${id}.json`)).toEqual(last);
});

test('of two machines that begin at the same time, only one gets the run', async () => {
  const [one, two] = [await elsewhere(), await elsewhere()];
  const ends = await Promise.allSettled([one.copy.claim(), two.copy.claim()]);
  const refused = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
  expect(refused).toEqual([expect.objectContaining({ code: 'run_locked' })]);
});

test('a lost answer, or a temporary failure, does not cost the owner the run', async () => {
  const run = experimentIn(temporaryFolder()).runFolder(id);
  const copy = new RunCopy(store, run);
  server.failures.push('cut', 500);
  expect(await copy.claim()).toBe(1);
  await takeStep(run, 0);
  server.failures.push(503, 'cut', 'cut', 500, 'cut');
  await upload(copy, run);
  expect(server.failures).toEqual([]);
  const other = await elsewhere();
  await other.copy.download(signal);
  expect(await checkRun(other.run)).toEqual([]);
});

test('content with a wrong hash, or under a name that no run has, is not written', async () => {
  const run = experimentIn(temporaryFolder()).runFolder(id);
  const copy = new RunCopy(store, run);
  await copy.claim();
  await takeStep(run, 0);
  await upload(copy, run);
  const head = `lab/first/runs/${id}.json`;
  const whole = new Map(server.objects);
  const broken: [string, Buffer, string][] = [...whole].flatMap(([key, content]): typeof broken => {
    if (key === head) {
      const outside = content.toString().replace('"run.json"', '"../../../run.json"');
      return [
        [key, Buffer.from(outside), 'artifact_broken'],
        [key, Buffer.from('{}'), 'artifact_broken'],
      ];
    }
    const changed = Buffer.from(content.map((byte, at) => (at === content.length - 1 ? byte ^ 1 : byte)));
    return [[key, changed, key.includes('/parts/') ? 'artifact_broken' : 'object_corrupt']];
  });
  expect(broken.length).toBeGreaterThan(5);
  for (const [key, content, code] of broken) {
    server.objects.set(key, content);
    const fetched = elsewhere().then(async ({ copy: other, run: here }) => {
      await other.download(signal).finally(() => expect(existsSync(here.recordPath)).toBe(false));
    });
    await expect(fetched, key).rejects.toMatchObject({ code });
    server.objects.set(key, whole.get(key) ?? Buffer.of());
  }
});

test('an experiment fetches what others left, sends what was changed here, and overwrites nothing that both changed', async () => {
  const here = experimentIn(temporaryFolder());
  const lines: string[] = [];
  const options = { variables: process.env, log: (line: string) => lines.push(line), signal };
  const open = async () => {
    const copy = await ExperimentCopy.open('s3://bucket/lab/', here, options);
    if (copy === null) throw new Error('a store is given');
    return copy;
  };
  using copy = await open();
  expect(copy.address).toMatch(/^s3:\/\/bucket\/lab\/first-[0-9a-f]{16}$/);
  using others = await openS3Store(copy.address, process.env);
  const run = experimentIn(temporaryFolder()).runFolder(id);
  const there = new RunCopy(others, run);
  await there.claim();
  await takeStep(run, 0);
  await there.upload(() => objectIds(run.objects.folder));
  using again = await open();
  const folder = here.runFolder(id);
  expect(await checkRun(folder)).toEqual([]);
  {
    using lease = folder.lock();
    expect(lease.epoch).toBeGreaterThan(1);
  }
  await takeStep(folder, 1);
  await again.send(id);
  await again.send(id);
  await there.look();
  expect(await there.claim()).toBeGreaterThan(2);
  await there.download(signal);
  expect(readTraceSync(run.tracePath).events.at(-1)).toMatchObject({ step: 1 });
  await takeStep(run, 2);
  await there.upload(() => objectIds(run.objects.folder));
  await takeStep(folder, 2);
  await takeStep(folder, 3);
  const before = readFileSync(folder.tracePath);
  for (const work of [again.fetch(id), again.send(id)])
    await expect(work).rejects.toMatchObject({ code: 'artifacts_differ' });
  using third = await open();
  expect(lines).toEqual([expect.stringContaining('was changed both here and')]);
  expect(readFileSync(folder.tracePath)).toEqual(before);
  rmSync(folder.folder, { recursive: true });
  await third.send(id);
  expect(readFileSync(folder.tracePath)).toEqual(readFileSync(run.tracePath));
  await expect(ExperimentCopy.open(undefined, here, options)).rejects.toMatchObject({
    code: 'artifacts_missing',
  });
});

test('an interrupted fetch is repeated, and does not count as a change of this machine', async () => {
  const run = experimentIn(temporaryFolder()).runFolder(id);
  const here = experimentIn(temporaryFolder());
  const options = { variables: process.env, log: () => {}, signal };
  using copy = await ExperimentCopy.open('s3://bucket/lab', here, options);
  if (copy === null) throw new Error('a store is given');
  using others = await openS3Store(copy.address, process.env);
  const there = new RunCopy(others, run);
  await there.claim();
  for (const step of [0, 1]) await takeStep(run, step);
  await there.upload(() => objectIds(run.objects.folder));
  const { 'run.json': parts = [] } = there.head?.checkpoint.files ?? {};
  const key = `${new URL(copy.address).pathname.slice(1)}/parts/${parts[0]?.sha256}`;
  const record = server.objects.get(key) ?? Buffer.of();
  server.objects.delete(key);
  await expect(copy.fetch(id)).rejects.toMatchObject({ code: 'artifact_missing' });
  expect(here.runFolder(id).hasTrace()).toBe(true);
  server.objects.set(key, record);
  await copy.fetch(id);
  expect(await checkRun(here.runFolder(id))).toEqual([]);
});

test('a store that ignores the conditions of writes is refused', async () => {
  server.ignoresConditions = true;
  const options = { variables: process.env, log: () => {}, signal };
  const opened = ExperimentCopy.open('s3://bucket/lab', experimentIn(temporaryFolder()), options);
  await expect(opened).rejects.toMatchObject({ code: 'no_conditional_writes' });
  server.ignoresConditions = false;
});

test('a store that cannot be used is reported with what to check, and without the credentials', async () => {
  using other = await openS3Store('s3://no-such-bucket/lab', process.env);
  const refused = await other.put('parts/x', Buffer.from('x')).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'no_artifact_store', hint: expect.stringContaining('AWS_REGION') });
  expect(String(refused)).toMatch(/no-such-bucket\/lab can't be used from .*: NoSuchBucket: it said/);
  expect(inspect(refused, { depth: 9 })).not.toContain('the-secret');
});

test('if the library is not installed, the error says how to install it', () => {
  const script = `
    import { registerHooks } from 'node:module';
    registerHooks({ resolve(specifier, context, next) {
      if (!specifier.startsWith('@aws-sdk/')) return next(specifier, context);
      throw Object.assign(new Error('not found'), { code: 'ERR_MODULE_NOT_FOUND' });
    } });
    const { openS3Store } = await import('./open-s3-store.ts');
    await openS3Store('s3://bucket/lab', {}).catch(({ code, hint }) => console.log(code, hint));`;
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  });
  const { peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const library = '@aws-sdk/client-s3';
  expect(said).toMatch(/^no_s3_library /);
  expect(said).toContain(`npm install ${library}@${peerDependencies[library]}`);
});
