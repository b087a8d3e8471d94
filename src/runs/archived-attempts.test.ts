import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  exampleGrade,
  examplePlan,
  exampleRecord,
  sessionStarted,
} from '../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../test/fixtures/store/folders.ts';
import type { ObjectId } from '../schema/index.ts';
import { createExperiment, type RunFolder } from '../store/index.ts';
import { archiveAttempt, archivedAttempts } from './archived-attempts.ts';

const snapshot = 'a'.repeat(64) as ObjectId;

function beginAttempt(run: RunFolder, started: number): void {
  run.writeRecordSync(
    exampleRecord({ status: 'finished', started, end: { reason: 'final_answer', message: '' } }),
  );
}

test('what was found out about an attempt is never written to the one that came after it', async () => {
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
