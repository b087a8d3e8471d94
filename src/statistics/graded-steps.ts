import type { GradedStep } from '../schema/index.ts';

/**
 * Whether the hidden score is known after each of so many steps, including those after an interruption.
 */
export function everyStepGraded(grades: readonly GradedStep[], steps: number): boolean {
  return new Set(grades.flatMap(({ step }) => (step > 0 ? [step] : []))).size >= steps;
}
