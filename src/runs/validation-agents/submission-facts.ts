import type { Task } from '../../tasks/index.ts';

/** The first file of the submission. */
export function submissionPath(task: Task): string {
  return task.file.submission.files[0]?.path ?? 'submission.csv';
}

/** What a forged table needs to look right; null if the task asks for no table. */
export function tableOf(task: Task): { from: string; id: string; columns: string[] } | null {
  const file = task.file.submission.files.find(({ format }) => format === 'csv');
  if (file?.format !== 'csv') return null;
  return { from: file.id.from, id: file.id.column, columns: file.columns.map(({ name }) => name) };
}

/** A score that would be a success. */
export function bestScore({ file: { metric, reference } }: Task): number {
  return metric.best ?? reference.mean;
}
