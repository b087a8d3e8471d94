import type { TaskBrief } from '../../schema/index.ts';

/**
 * The task as a prompt tells it, the same for every request of a run: all that an agent may know of it, or, as in the
 * paper, the research problem alone.
 */
export function taskText(task: TaskBrief, much: 'problem' | 'whole' = 'whole'): string {
  const { title, problem, entry, metric, read_only, submission } = task;
  if (much === 'problem') return problem.trim();
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
