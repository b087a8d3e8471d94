import type { Job } from '../../schema/index.ts';
import { isGraded } from '../graded.ts';
import type { Following } from '../jobs/executor.ts';
import { type JobResult, resultOf } from '../jobs/job-result.ts';
import { readableRecord } from '../readable-record.ts';
import type { ExecutorPlace } from './executor-kind.ts';

/**
 * The result of a job with nothing left to do; null if there is something left.
 * @param isOurs whether this executor submitted the run: then it reports the run's grades, because nobody else has
 */
export function doneBefore(
  { experiment }: ExecutorPlace,
  job: Job,
  { onProgress }: Following,
  isOurs: boolean,
): JobResult | null {
  const { run } = job;
  const folder = experiment.runFolder(run.id);
  const record = readableRecord(folder);
  if (record?.status !== 'finished') return null;
  if (job.kind === 'run') onProgress({ kind: 'run_kept', run, record });
  else if (!isGraded(folder, job.which)) return null;
  else if (isOurs) onProgress({ kind: 'run_graded', run, grades: folder.readGrades().grades });
  return resultOf(record);
}
