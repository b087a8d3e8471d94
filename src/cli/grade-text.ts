import type { Grade } from '../schema/index.ts';
import { improvementOf } from '../statistics/index.ts';
import { number, oneLine, percent } from './table.ts';

/** A grade as a phrase that follows other words. */
export function gradeText(grade: Grade | undefined): string {
  if (grade === undefined) return ', not graded';
  if (!grade.valid)
    return `, no valid submission: ${oneLine(grade.problems.map(({ message }) => message).join('; '), 300)}`;
  const gain = percent(improvementOf(grade), true);
  return `, score ${number(grade.score)} (${gain} against ${number(grade.baseline)})${grade.stale ? ', stale' : ''}`;
}
