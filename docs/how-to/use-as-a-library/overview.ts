import { describeProblem, findTasks, packagedTasks, suites } from 'mlagentbench/task';

/** The suites of all tasks, with the ids of their tasks, and what is wrong with the tasks of a folder. */
export function overview(folder: string): { suites: Record<string, string[]>; problems: string[] } {
  const { tasks, problems } = findTasks([folder, packagedTasks]);
  const ids = [...suites(tasks)].map(([name, members]) => [name, members.map(({ file }) => file.id)]);
  return { suites: Object.fromEntries(ids), problems: problems.map(describeProblem) };
}
