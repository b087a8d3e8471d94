import type { Limits, TaskBrief } from '../../schema/index.ts';

/** The prompt for a program that continues its own session. */
export const continuePrompt = `The run was interrupted and now continues. The workspace is as it was after your last finished command; processes that
you had started are gone. Continue with the task.`;

/** The task's description for a program: the text that every agent gets, and how things work in its environment. */
export function programBrief(task: TaskBrief, limits: Limits, seed: number): string {
  const files = task.submission.files.map(({ path }) => `\`${path}\``).join(', ');
  return `# Research problem

${task.problem.trim()}

# Your environment

The current directory is your workspace, with the files of the task; start with \`${task.entry}\`. The data is in \`data/\`,
which is read-only. \`python\` has the packages that the task needs; there is no network access except to your language
model. Nobody answers questions, and nothing needs permission: continue until you are done.

- Your submission: ${files}, in the workspace. It is graded as it is there when you stop.
- \`mlab-check\` tells you whether the grader would accept it. It gives no score.
- You have ${limits.steps} turns and ${Math.round(limits.wall_seconds)} seconds in total; all processes that you start share ${limits.memory_mb} MiB of memory.
- Where something is random, start with the seed ${seed}.
`;
}
