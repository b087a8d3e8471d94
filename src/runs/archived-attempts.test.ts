import { existsSync, rmSync } from 'node:fs';
import { basename } from 'node:path';
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
import { archivedAttempts, attemptFolder, createExperiment, type RunFolder } from '../store/index.ts';
import { archiveAttempt } from './archived-attempts.ts';

const snapshot = 'a'.repeat(64) as ObjectId;

function beginAttempt(run: RunFolder, started: number): void {
  run.writeRecordSync(
    exampleRecord({ status: 'finished', started, end: { reason: 'final_answer', message: '' } }),
  );
}

test('results of an attempt are never written to the attempt that replaced it', async () => {
  using folder = temporaryFolder();
  const run = createExperiment(folder.path, examplePlan()).runFolder('digits-baseline-0');
  {
    using _lease = run.lock();
    await using trace = run.openTrace();
    trace.append(sessionStarted(snapshot));
  }
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
