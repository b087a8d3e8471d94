import type { TaskFile } from '../schema/index.ts';
import type { TaskFigures } from './write-figures.ts';

export type ReportProblem = (field: (string | number)[], message: string, fix: string) => void;

/** Checks the measured figures of a task or of a variant. */
export function checkFigures(file: TaskFile, report: ReportProblem): void {
  metricChecks(file, report);
  baselineCheck(file, report);
  noiseCheck(file, report);
  successCheck(file, report);
  directionCheck(file, report);
}

function baselineCheck({ baseline }: TaskFile, report: ReportProblem): void {
  if (baseline.mean !== 0) return;
  report(
    ['baseline', 'mean'],
    '0: an improvement is relative to the baseline, so no run could succeed',
    'choose a metric in which the starter does not score 0, or measure a trivial predictor (method: constant)',
  );
}

/** An improvement of more than 100 % that the reference does not show is a fraction given in percent. */
function successCheck(
  { success: { threshold }, baseline, reference }: TaskFile,
  report: ReportProblem,
): void {
  const gain = Math.abs(reference.mean - baseline.mean) / Math.abs(baseline.mean);
  if (threshold <= 1 || gain > threshold) return;
  const percent = (share: number) => `${(100 * share).toLocaleString('en-US')} %`;
  report(
    ['success', 'threshold'],
    `${threshold} means ${percent(threshold)}, and the reference improves on the baseline by ${percent(Number(gain.toPrecision(3)))}`,
    `write ${threshold / 100} for ${threshold} %`,
  );
}

/** A reference that is far worse than the starter is better by the other direction. With a best score, `metricChecks` sees it. */
function directionCheck({ metric, success, baseline, reference }: TaskFile, report: ReportProblem): void {
  if (metric.best !== undefined) return;
  const loss = (baseline.mean - reference.mean) * (metric.direction === 'maximize' ? 1 : -1);
  if (loss <= success.threshold * Math.abs(baseline.mean)) return;
  report(
    ['metric', 'direction'],
    `the reference (${reference.mean}) is worse than the baseline (${baseline.mean}) if the metric is to ${metric.direction}`,
    'correct metric.direction, or improve the reference and measure it again',
  );
}

/** If chance alone lifts the starter beyond the threshold, success is a matter of chance. */
export function isNoisy({ mean, spread }: Pick<TaskFigures, 'mean' | 'spread'>, threshold: number): boolean {
  return spread > threshold * Math.abs(mean);
}

function noiseCheck({ baseline, success }: TaskFile, report: ReportProblem): void {
  const { mean, spread, remedy } = baseline;
  if (mean === 0 || !isNoisy(baseline, success.threshold) || remedy !== undefined) return;
  report(
    ['baseline', 'spread'],
    `${spread} is more than the success threshold of the mean (${success.threshold} of ${mean})`,
    'make the starter less noisy or the test larger; or say in baseline.remedy what keeps noise from deciding',
  );
}

function metricChecks(file: TaskFile, report: ReportProblem): void {
  const { best, chance, direction } = file.metric;
  if (best === undefined) return;
  const beyond = (score: number) => (direction === 'maximize' ? score > best : score < best);
  const fix = 'correct the number, or metric.best or metric.direction';
  if (chance !== undefined && beyond(chance))
    report(['metric', 'chance'], `${chance} is better than metric.best (${best})`, fix);
  for (const part of ['baseline', 'reference'] as const) {
    if (beyond(file[part].mean))
      report([part, 'mean'], `${file[part].mean} is better than metric.best (${best})`, fix);
  }
}
