import type { Lesson, TaskBrief } from '../../schema/index.ts';
import { lessonsText } from './lessons-text.ts';

/**
 * The task's description for a prompt, the same for every request of a run: everything that an agent may know about it
 * or, as in the paper, the research problem alone. Lessons of earlier runs, if any, are at its end.
 */
export function taskText(
  task: TaskBrief,
  much: 'problem' | 'whole' = 'whole',
  lessons: readonly Lesson[] = [],
): string {
  const lessonsPart = lessonsText(lessons);
  return lessonsPart === '' ? textOf(task, much) : `${textOf(task, much)}\n\n${lessonsPart}`;
}

function textOf(task: TaskBrief, much: 'problem' | 'whole'): string {
  const { title, problem, entry, metric, read_only, submission } = task;
  if (much === 'problem') return problem.trim();
  const better = metric.direction === 'maximize' ? 'higher' : 'lower';
  const readOnly = ['data/', ...read_only].join(', ');
  return [
    `# ${title}`,
    problem.trim(),
    '## Summary',
    `- Starter script: ${entry}`,
    `- Metric: ${metric.name} (${metric.unit}); ${better} is better. It is computed on hidden data.`,
    `- Submission: ${submission.description} Files: ${submission.files.map(({ path }) => path).join(', ')}`,
    `- Read-only: ${readOnly}`,
  ].join('\n');
}
