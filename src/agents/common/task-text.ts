import type { Budget, TaskBrief } from '../../schema/index.ts';

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

/** What is left of a budget, in a few words. */
export function budgetText({ steps_left, seconds_left, tokens_left, money_left }: Budget): string {
  const parts = [`${steps_left} steps`, durationText(seconds_left)];
  if (tokens_left !== null) parts.push(`${Math.max(0, Math.floor(tokens_left))} tokens`);
  if (money_left !== null) parts.push(`$${Math.max(0, money_left).toFixed(2)}`);
  return parts.join(', ');
}

function durationText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 120) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
