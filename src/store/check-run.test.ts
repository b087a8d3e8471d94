import { appendFileSync, chmodSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  exampleGrade,
  examplePlan,
  exampleRecord,
  exampleVerification,
  runEnded,
  sessionStarted,
  stepFinished,
  stepStarted,
} from '../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../test/fixtures/store/folders.ts';
import { sha256 } from '../lib/hash.ts';
import type { ObjectId } from '../schema/index.ts';
import { checkRun } from './check-run.ts';
import { createExperiment, openExperiment } from './experiment.ts';
import type { RunFolder } from './run-folder.ts';
import { storeSnapshot } from './snapshot-file.ts';
import { SnapshotTaker } from './snapshot-taker.ts';

/** A finished run of two steps, graded. */
async function finishedRun(folder: string): Promise<{ run: RunFolder; snapshots: ObjectId[] }> {
  const run = createExperiment(join(folder, 'first'), examplePlan()).runFolder('digits-baseline-0');
  using _lock = run.lock();
  await using trace = run.openTrace();
  const workspace = join(folder, 'first');
  const snapshotter = new SnapshotTaker(run.objects, workspace);
  const ignore = ['objects', 'runs'];
  const snapshots: ObjectId[] = [];
  for (let step = 0; step <= 2; step++) {
    if (step > 0) trace.append(stepStarted(step));
    writeFileSync(join(workspace, 'submission.csv'), `id,target\n1,${step}\n`);
    const { id } = await snapshotter.take({ ignore });
    snapshots.push(id);
    const observation = trace.textRef(`accuracy ${step} `.repeat(400));
    trace.append(step === 0 ? sessionStarted(id) : stepFinished(step, id, { observation }));
  }
  trace.append(runEnded());
  run.writeRecordSync(
    exampleRecord({ status: 'finished', steps: 2, end: { reason: 'final_answer', message: '' } }),
  );
  run.appendGrade(exampleGrade(snapshots[2] ?? ('' as ObjectId)));
  return { run, snapshots };
}

/** The codes of the problems that a new check finds. */
async function codesOf(run: RunFolder): Promise<string[]> {
  const fresh = openExperiment(join(run.folder, '../..')).runFolder(run.id);
  return [...new Set((await checkRun(fresh)).map((problem) => problem.code))];
}

test('an unchanged run has no problems', async () => {
  using folder = temporaryFolder();
  const { run } = await finishedRun(folder.path);
  expect(await codesOf(run)).toEqual([]);
});

test('every changed byte of a trace is detected', async () => {
  using folder = temporaryFolder();
  const { run } = await finishedRun(folder.path);
  const whole = readFileSync(run.tracePath);
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), async (at, difference) => {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ difference;
      writeFileSync(run.tracePath, changed);
      expect(await codesOf(run)).not.toEqual([]);
    }),
    { numRuns: 60 },
  );
});

test('a trace that was cut off anywhere, also at the end of a line, is detected', async () => {
  using folder = temporaryFolder();
  const { run } = await finishedRun(folder.path);
  const whole = readFileSync(run.tracePath);
  for (let lines = 0, end = 0; end < whole.length; lines++) {
    writeFileSync(run.tracePath, whole.subarray(0, end));
    expect(await codesOf(run)).toContain('trace_cut');
    truncateSync(run.tracePath, end + (lines === 0 ? 0 : -1));
    expect(await codesOf(run)).toContain('trace_cut');
    end = whole.indexOf('\n', end) + 1;
  }
});

test('a run after an infrastructure failure needs no end in its trace, as it may be resumed', async () => {
  using folder = temporaryFolder();
  const run = createExperiment(join(folder.path, 'first'), examplePlan()).runFolder('digits-baseline-0');
  {
    using _lock = run.lock();
    await using trace = run.openTrace();
    const { id } = await new SnapshotTaker(run.objects, folder.path).take({ ignore: ['first'] });
    trace.append(sessionStarted(id));
  }
  const end = { reason: 'infrastructure_error' as const, message: 'no answer' };
  run.writeRecordSync(exampleRecord({ status: 'failed', end, steps: 0 }));
  expect(await codesOf(run)).toEqual([]);
});

test('a recomputed chain of hashes is detected by comparison with run.json', async () => {
  using folder = temporaryFolder();
  const { run } = await finishedRun(folder.path);
  let prev = '0'.repeat(64);
  const forged = readFileSync(run.tracePath, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => {
      const next = JSON.stringify({ ...JSON.parse(line), time: 1, prev });
      prev = sha256(next);
      return `${next}\n`;
    });
  writeFileSync(run.tracePath, forged.join(''));
  expect(await codesOf(run)).toEqual(['chain_broken']);
});

test('missing, changed and forged objects are detected', async () => {
  using folder = temporaryFolder();
  const { run, snapshots } = await finishedRun(folder.path);
  const snapshot = snapshots[1] ?? '';
  const manifest = JSON.parse(run.objects.getText(snapshot as ObjectId));
  const content = manifest.entries.find((entry: { path: string }) => entry.path === 'submission.csv').object;
  const pathOf = (id: string) => join(run.objects.folder, id.slice(0, 2), id.slice(2));
  for (const id of [snapshot, content]) {
    const before = readFileSync(pathOf(id));
    chmodSync(pathOf(id), 0o644);
    for (const bytes of ['', 'something else']) {
      writeFileSync(pathOf(id), bytes);
      expect(await codesOf(run)).toEqual(['object_bad']);
    }
    writeFileSync(pathOf(id), before);
  }
  expect(await codesOf(run)).toEqual([]);
});

test('a snapshot that gives a file another size than its content is detected', async () => {
  using folder = temporaryFolder();
  const run = createExperiment(join(folder.path, 'first'), examplePlan()).runFolder('digits-baseline-0');
  const object = run.objects.putText('four');
  const entry = { path: 'a.txt', object, size: 3, mode: 0o644, mtime: 0 };
  {
    using _lock = run.lock();
    await using trace = run.openTrace();
    trace.append(sessionStarted(storeSnapshot(run.objects, [entry])));
  }
  const end = { reason: 'infrastructure_error' as const, message: 'no answer' };
  run.writeRecordSync(exampleRecord({ status: 'failed', end, steps: 0 }));
  expect(await codesOf(run)).toEqual(['unsafe_snapshot']);
});

test('a broken record, a broken grade and a grade of an unknown snapshot are detected', async () => {
  using folder = temporaryFolder();
  const { run } = await finishedRun(folder.path);
  const record = readFileSync(run.recordPath, 'utf8');
  writeFileSync(run.recordPath, record.replace('"finished"', '"done"'));
  expect(() => run.readRecord()).toThrow(/run\.json is not as expected: field "status"/);
  expect(await codesOf(run)).toEqual(['broken_file']);
  writeFileSync(run.recordPath, record.replace('"v": 2', '"v": 4'));
  expect(await codesOf(run)).toEqual(['future_version']);
  writeFileSync(run.recordPath, record);
  appendFileSync(run.gradesPath, '{"v":1,"ti');
  run.appendGrade(exampleGrade(sha256('elsewhere') as ObjectId));
  expect(run.readGrades().grades).toHaveLength(2);
  expect(run.readGrades().problems).toHaveLength(1);
  expect(await codesOf(run)).toEqual(['broken_file', 'wrong_order']);
});

test('verifications are checked like grades', async () => {
  using folder = temporaryFolder();
  const { run, snapshots } = await finishedRun(folder.path);
  run.appendVerification(exampleVerification(snapshots[2] ?? ('' as ObjectId)));
  expect(await codesOf(run)).toEqual([]);
  appendFileSync(run.verificationsPath, '{"v":1,"ti');
  run.appendVerification(exampleVerification(sha256('elsewhere') as ObjectId));
  expect(run.readVerifications().verifications).toHaveLength(2);
  expect(await codesOf(run)).toEqual(['broken_file', 'wrong_order']);
});

test('a run that has no files yet has no problems', async () => {
  using folder = temporaryFolder();
  const experiment = createExperiment(folder.path, examplePlan());
  expect(await checkRun(experiment.runFolder('digits-noop-0'))).toEqual([]);
});
