import type { StepWarning } from '../../../src/schema/index.ts';

/** The nearest step with a warning after (or before) this one; null if there is none. */
export function nextWarning(
  warnings: readonly StepWarning[],
  step: number | null,
  forward: boolean,
): number | null {
  const here = step ?? 0;
  const steps = warnings
    .map((warning) => warning.step)
    .filter((other) => (forward ? other > here : other < here));
  if (steps.length === 0) return null;
  return forward ? Math.min(...steps) : Math.max(...steps);
}
