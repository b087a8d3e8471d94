import { UserError } from '../lib/errors.ts';
import type { Task } from './task-folder.ts';

/** The caveat of results on sample data. */
export const sampleCaveat = 'sample data';
/** The caveat of results on data with other checksums than expected. */
export const unverifiedCaveat = 'unverified data';

/**
 * The task on its small synthetic data. A task whose data needs no download stays as it is.
 * @throws UserError `no_sample` for a task with downloads but no sample
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
export function dataCaveats({ isSample, figures }: Task, verified: boolean): string[] {
  return [
    ...(isSample ? [sampleCaveat] : []),
    ...(verified ? [] : [unverifiedCaveat]),
    ...(figures === 'declared' ? [] : [`baseline ${figures}`]),
  ];
}
