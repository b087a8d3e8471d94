import type { StepResult } from '../../environment/index.ts';
import type { Metric } from '../../schema/index.ts';
import { readMetric } from './metric-reader.ts';

/** A run of a version of the script that printed a score. */
export interface MeasuredRun {
  kind: 'measured';
  score: number;
  /** The line that contains it. */
  line: string;
  /** It was printed under a part of the metric's name only. */
  short: boolean;
  /** Another metric was printed instead of the task's. */
  other: boolean;
  seconds: number;
  printed: string;
}

export interface FailedRun {
  kind: 'failed';
  why: string;
  printed: string;
  seconds: number;
  timedOut: boolean;
  /** It ran to its end, but printed no metric. */
  silent: boolean;
}

export type TrialOutcome = MeasuredRun | FailedRun;

/** What a run printed of its score, or why there is none. */
export function toldOf(outcome: TrialOutcome): string {
  return outcome.kind === 'measured' ? outcome.line : outcome.why;
}

export function failedRun(why: string, more: Partial<FailedRun> = {}): FailedRun {
  return { kind: 'failed', why, printed: '', seconds: 0, timedOut: false, silent: false, ...more };
}

/**
 * Reads the result of a run.
 * @param seconds what the run took
 * @param limit seconds after which the script stops itself
 */
export function outcomeOf(
  { status, observation: printed }: StepResult,
  metric: Metric,
  seconds: number,
  limit = Number.POSITIVE_INFINITY,
): TrialOutcome {
  const timedOut = status === 'timed_out' || (status === 'failed' && seconds >= limit);
  const ended = `the script ended as ${timedOut ? 'timed_out' : status}`;
  if (status !== 'ok') return failedRun(ended, { printed, seconds, timedOut });
  const reading = readMetric(printed, metric);
  if (reading === null)
    return failedRun(`the script printed no ${metric.name} that I can read`, {
      ...{ printed, seconds, silent: true },
    });
  const { value: score, line, short, other } = reading;
  if (!Number.isFinite(score))
    return failedRun(`the script printed a ${metric.name} that is no number: "${line}"`, {
      printed,
      seconds,
    });
  return { kind: 'measured', score, line, short, other, seconds, printed };
}
