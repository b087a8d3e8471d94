import { UserError } from '../lib/errors.ts';
import type { Task } from './task-folder.ts';

/** What marks results on made-up data. */
export const sampleMark = 'sample data';
/** And of one whose data has other checksums than expected. */
export const unverifiedMark = 'unverified data';

/**
 * The task on its small made-up data. One whose data is made without any download is what it is.
 * @throws UserError `no_sample` for a task that has downloads and no sample
 */
export function sampleOf(task: Task): Task {
  const { sample, sources, baseline, reference } = task.file;
  if (sample === undefined) {
    if (sources.length === 0) return task;
    throw new UserError(
      'no_sample',
      `The task ${task.file.id} has no sample data.`,
      'Leave out --sample: mlab prepare gets its real data.',
    );
  }
  const file = {
    ...task.file,
    baseline: { ...baseline, ...sample.baseline },
    reference: { ...reference, ...sample.reference },
  };
  return { ...task, file, isSample: true };
}

/** Why results on this data are not comparable with others. */
export function dataMarks({ isSample, figures }: Task, verified: boolean): string[] {
  return [
    ...(isSample ? [sampleMark] : []),
    ...(verified ? [] : [unverifiedMark]),
    ...(figures === 'declared' ? [] : [`baseline ${figures}`]),
  ];
}
