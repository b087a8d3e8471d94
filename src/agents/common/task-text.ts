import type { TaskBrief } from '../../schema/index.ts';

/** The task as a prompt tells it: all that an agent may know of it, and the same for every request of a run. */
export function taskText({ title, problem, entry, metric, read_only, submission }: TaskBrief): string {
  const better = metric.direction === 'maximize' ? 'higher' : 'lower';
  const readOnly = ['data/', ...read_only].join(', ');
  return [
    `# ${title}`,
    problem.trim(),
    '## In short',
    `- Starter script: ${entry}`,
    `- Metric: ${metric.name} (${metric.unit}); ${better} is better. It is taken on data that you do not have.`,
    `- To hand in: ${submission.description} Files: ${submission.files.map(({ path }) => path).join(', ')}`,
    `- Read-only: ${readOnly}`,
  ].join('\n');
}
