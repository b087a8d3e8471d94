import type { Convention } from '../schema/index.ts';
import type { ReportOptions } from '../statistics/index.ts';
import type { Task } from '../tasks/index.ts';

/** The paper's figures in the tasks' files, in the form that reports take. */
export function reportOptions(
  tasks: readonly Task[],
  { convention, published }: { convention: Convention; published: boolean },
): ReportOptions {
  const baselines = tasks.flatMap(({ file }) => {
    const { paper } = file.baseline;
    return paper === undefined ? [] : [[file.id, paper.value] as const];
  });
  return {
    convention,
    paperBaselines: Object.fromEntries(baselines),
    ...(published ? { published: Object.fromEntries(tasks.map(({ file }) => [file.id, file.paper])) } : {}),
  };
}
