import type { Job } from '../../../schema/index.ts';
import type { Experiment } from '../../../store/index.ts';
import { isGraded } from '../../graded.ts';
import { type JobResult, resultOf } from '../../jobs/job-result.ts';
import { readableRecord } from '../../readable-record.ts';

/**
 * The result of a job according to the store; null if it has not ended since it was queued.
 * @param updated when the run's record changed last before that
 */
export function storedResult(
  job: Job,
  experiment: Experiment,
  updated: number | undefined,
): JobResult | null {
  const folder = experiment.runFolder(job.run.id);
  const record = readableRecord(folder);
  if (record?.status === 'finished')
    return job.kind === 'run' || isGraded(folder, job.which) ? resultOf(record) : null;
  // Queued again, a run that failed would be executed, and paid for, again.
  const hasFailed = job.kind === 'run' && record?.status === 'failed' && record.updated !== updated;
  return hasFailed ? resultOf(record) : null;
}
