import type { Limits, TaskBrief } from '../../schema/index.ts';

/** The prompt for a program that continues its own session. */
export const continuePrompt = `The run was interrupted, and continues now. The workspace is as it was after your last finished command; processes that
you had started are gone. Go on with the task.`;

/** The task's description for a program: the text that every agent gets, and how things work in its environment. */
export function programBrief(task: TaskBrief, limits: Limits, seed: number): string {
  const files = task.submission.files.map(({ path }) => `\`${path}\``).join(', ');
  return `# Research problem

${task.problem.trim()}

# Where you are

The current directory is your workspace, with the files of the task; begin with \`${task.entry}\`. The data lies in \`data/\`,
which can be read and not written. \`python\` has the packages that the task needs; there is no network but for your language
model. Nobody answers questions, and nothing needs a permission: go on until you are done.

- What you hand in: ${files}, in the workspace. It is graded as it lies there when you stop.
- \`mlab-check\` says whether the grader would accept it. It gives no score.
- You have ${limits.steps} turns and ${Math.round(limits.wall_seconds)} seconds in all; all that you start together has ${limits.memory_mb} MiB of memory.
- Where something is random, begin with the seed ${seed}.
`;
}
