import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import {
  exampleGrade,
  examplePlan,
  exampleRecord,
  exampleSpec,
  sessionStarted,
} from '../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../test/fixtures/store/folders.ts';
import type { ObjectId } from '../schema/index.ts';
import {
  archivedAttempts,
  attemptFolder,
  attemptNumbers,
  createExperiment,
  type RunFolder,
} from '../store/index.ts';
import { archiveAttempt, finishArchiving } from './archived-attempts.ts';

const snapshot = 'a'.repeat(64) as ObjectId;

function beginAttempt(run: RunFolder, started: number): void {
  run.writeRecordSync(
    exampleRecord({ status: 'finished', started, end: { reason: 'final_answer', message: '' } }),
  );
}

async function beginTrace(run: RunFolder): Promise<void> {
  using _lease = run.lock();
  await using trace = run.openTrace();
  trace.append(sessionStarted(snapshot));
}

test('results of an attempt are never written to the attempt that replaced it', async () => {
  using folder = temporaryFolder();
  const run = createExperiment(folder.path, examplePlan()).runFolder('digits-baseline-0');
  await beginTrace(run);
  beginAttempt(run, 1);
  const judged = run.readRecord();
  if (judged === null) throw new Error('it has begun');
  const write = () => run.writeResults(judged, null, () => run.appendGrade(exampleGrade(snapshot)));
  await write();
  await archiveAttempt(run);
  await expect(write()).rejects.toMatchObject({ code: 'attempt_gone' });
  beginAttempt(run, 2);
  await expect(write()).rejects.toMatchObject({ code: 'attempt_gone' });
  expect(run.readGrades().grades).toEqual([]);
  expect(archivedAttempts(run).map((attempt) => attempt.readGrades().grades.length)).toEqual([1]);
  expect(existsSync(`${run.folder}/results-lock`)).toBe(false);
});

test('attempts are numbered by run, whatever attempts other runs have', async () => {
  using folder = temporaryFolder();
  const experiment = createExperiment(folder.path, examplePlan());
  const [first, second] = experiment.runIds.map((id) => experiment.runFolder(id));
  if (first === undefined || second === undefined) throw new Error('two runs');
  for (const run of [first, second, second]) {
    run.writeRecordSync(exampleRecord({ spec: exampleSpec(run.id) }));
    await archiveAttempt(run);
  }
  // On another machine, only what belongs to the second is there.
  rmSync(attemptFolder(second, 1), { recursive: true });
  rmSync(attemptFolder(first, 1), { recursive: true });
  second.writeRecordSync(exampleRecord({ spec: exampleSpec(second.id) }));
  await archiveAttempt(second);
  expect(archivedAttempts(second).map(({ folder: each }) => basename(each))).toEqual([
    `${second.id}.2`,
    `${second.id}.3`,
  ]);
});

test('workspaces of an attempt are not archived, whatever is in them: a run that fills the disk must not take more with each start', async () => {
  using folder = temporaryFolder();
  const run = createExperiment(folder.path, examplePlan()).runFolder('digits-baseline-0');
  await beginTrace(run);
  beginAttempt(run, 1);
  const branch = join(run.folder, 'branches/b1');
  const places = ['workspace', 'workspace-before-3-ab12cd', 'branches/b1/workspace'];
  for (const place of places) {
    mkdirSync(join(run.folder, place, 'closed'), { recursive: true });
    writeFileSync(join(run.folder, place, 'closed/large.bin'), 'x'.repeat(1000));
    chmodSync(join(run.folder, place, 'closed'), 0o000);
  }
  mkdirSync(join(branch, 'outputs'));
  await archiveAttempt(run);
  const [attempt] = archivedAttempts(run);
  expect(readdirSync(attempt?.folder ?? '').toSorted()).toEqual(['branches', 'run.json', 'trace.jsonl']);
  expect(readdirSync(join(attempt?.folder ?? '', 'branches/b1'))).toEqual(['outputs']);
});

/** Archives the run of a folder in a process that is killed when it renames something for this time. */
function archiveUntil(folder: string, time: number): void {
  const moduleUrl = (name: string) => JSON.stringify(new URL(name, import.meta.url).href);
  const script = `import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    const rename = fs.renameSync;
    let times = 0;
    fs.renameSync = (from, to) => {
      if (String(to).includes('.discarded')) times += 1;
      if (times === ${time}) process.kill(process.pid, 'SIGKILL');
      rename(from, to);
    };
    syncBuiltinESMExports();
    const { openExperiment } = await import(${moduleUrl('../store/index.ts')});
    const { archiveAttempt } = await import(${moduleUrl('./archived-attempts.ts')});
    await archiveAttempt(openExperiment(${JSON.stringify(folder)}).runFolder('digits-baseline-0'));`;
  expect(spawnSync(process.execPath, ['--input-type=module', '-e', script]).signal).toBe('SIGKILL');
}

// The grade, the trace, the record, and the folder that has them.
test.each([1, 2, 3, 4])(
  'an attempt whose archiving was interrupted before its move %i is archived whole, and once',
  async (time) => {
    using folder = temporaryFolder();
    const run = createExperiment(folder.path, examplePlan()).runFolder('digits-baseline-0');
    await beginTrace(run);
    run.appendGrade(exampleGrade(snapshot));
    beginAttempt(run, 1);
    archiveUntil(folder.path, time);
    expect(attemptNumbers(run)).toEqual([]);
    expect(archivedAttempts(run)).toHaveLength(1);
    await finishArchiving(run);
    const whole = { folder: attemptFolder(run, 1), started: 1, hasTrace: true, grades: 1 };
    expect(archivedAttempts(run).map(partsOf)).toEqual([whole]);
    expect(partsOf(run)).toEqual({ folder: run.folder, hasTrace: false, grades: 0 });
    await finishArchiving(run);
    beginAttempt(run, 2);
    await archiveAttempt(run);
    expect(archivedAttempts(run).map((attempt) => attempt.readRecord()?.started)).toEqual([1, 2]);
  },
);

function partsOf(run: RunFolder) {
  const started = run.readRecord()?.started;
  const grades = run.readGrades().grades.length;
  return { folder: run.folder, started, hasTrace: run.hasTrace(), grades };
}

test('a new attempt that began before the archiving of the last one was completed stays in its place', async () => {
  using folder = temporaryFolder();
  const run = createExperiment(folder.path, examplePlan()).runFolder('digits-baseline-0');
  beginAttempt(run, 1);
  archiveUntil(folder.path, 2);
  beginAttempt(run, 2);
  await finishArchiving(run);
  expect([run, ...archivedAttempts(run)].map((each) => each.readRecord()?.started)).toEqual([2, 1]);
});

test('half an attempt that an earlier version left does not prevent that its run begins, or is archived', async () => {
  using folder = temporaryFolder();
  const run = createExperiment(folder.path, examplePlan()).runFolder('digits-baseline-0');
  await beginTrace(run);
  mkdirSync(attemptFolder(run, 1), { recursive: true });
  renameSync(run.tracePath, join(attemptFolder(run, 1), basename(run.tracePath)));
  beginAttempt(run, 1);
  await finishArchiving(run);
  expect(run.readRecord()).not.toBe(null);
  await archiveAttempt(run);
  expect(archivedAttempts(run).map((attempt) => [attempt.hasTrace(), attempt.readRecord() !== null])).toEqual(
    [
      [true, false],
      [false, true],
    ],
  );
});
