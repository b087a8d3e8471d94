import type { PassAt, ReportPair, TaskId } from '../../schema/index.ts';
import { isSuccess } from '../competence.ts';
import { passAtK } from '../numeric/pass-at-k.ts';
import type { Counted } from '../numeric/rate-intervals.ts';
import { mean } from '../summary.ts';
import { estimateOf, rateOf, summaryOf } from './measured.ts';
import { thresholds } from './options.ts';
import { hasSucceeded, type RunFacts } from './run-facts.ts';
import { groupOf } from './run-group.ts';

/** One agent on one task, with the values of its runs for rows and comparisons. */
export interface PairData {
  task: TaskId;
  agent: string;
  runs: readonly RunFacts[];
  /** Those that count under the report's convention. */
  inRate: readonly RunFacts[];
  success: readonly number[];
  improvement: readonly number[];
  improvementOfAll: readonly number[];
  normalised: readonly number[];
  pair: ReportPair;
}

/** @param runs at least one, all of the same task and agent */
export function pairOf(runs: readonly RunFacts[], task: TaskId, agent: string): PairData {
  const inRate = runs.filter((run) => run.inRate);
  const improvement = inRate.flatMap(({ line }) => line.improvement ?? []);
  // An improvement over 0 is no ratio: without one, a mean would be that of the invalid submissions alone.
  const hasRatio = runs.every(({ scoringReference }) => scoringReference?.baseline.mean !== 0);
  const improvementOfAll = hasRatio ? inRate.flatMap(({ heldGain }) => heldGain ?? []) : [];
  const normalised = inRate.flatMap(({ line }) => line.normalised ?? []);
  const success = rateOf(inRate.map(hasSucceeded));
  const pair: ReportPair = {
    task,
    agent,
    ...groupOf(runs),
    success,
    rates: rateVariants(runs),
    significant: rateOf(inRate.flatMap(({ line }) => line.significant ?? [])),
    thresholds: thresholds.map((threshold) => ({
      threshold,
      end: rateOf(inRate.map(({ line }) => isSuccess(line.improvement, threshold))),
      any_step: rateOf(withKnownSteps(inRate).map(({ bestGain }) => isSuccess(bestGain, threshold))),
    })),
    score: summaryOf(inRate.flatMap(({ line }) => line.score ?? [])),
    baseline: summaryOf(inRate.flatMap(({ line }) => line.baseline ?? []))?.mean ?? null,
    improvement: estimateOf(improvement),
    improvement_of_all: estimateOf(improvementOfAll),
    normalised: estimateOf(normalised),
    best: bestOf(inRate),
    pass_at: passesOf([success]),
    scoring_reference: runs.find((run) => run.scoringReference !== null)?.scoringReference ?? null,
  };
  return {
    ...{ task, agent, runs, inRate, improvement, improvementOfAll, normalised, pair },
    success: inRate.map((run) => Number(hasSucceeded(run))),
  };
}

function rateVariants(runs: readonly RunFacts[]): ReportPair['rates'] {
  const judged = runs.filter((run) => run.judged);
  const rate = (counts: (run: RunFacts) => boolean) => rateOf(judged.filter(counts).map(hasSucceeded));
  return {
    all: rate(() => true),
    without_infrastructure: rate(({ infrastructure }) => !infrastructure),
    without_flagged: rate(({ flagged }) => !flagged),
    without_doubted: rate(({ doubted }) => !doubted),
  };
}

/**
 * Runs of which it is known whether a step was a success: those whose steps were graded and, beside these, those that
 * took none or left nothing to grade. Runs without steps count alone only if all are.
 */
function withKnownSteps(runs: readonly RunFacts[]): readonly RunFacts[] {
  if (!runs.some(({ stepsGraded }) => stepsGraded))
    return runs.every(({ hasNoSteps }) => hasNoSteps) ? runs : [];
  return runs.filter(
    ({ stepsGraded, hasNoSteps, evaluation }) => stepsGraded || hasNoSteps || evaluation.grades.length === 0,
  );
}

function bestOf(runs: readonly RunFacts[]): ReportPair['best'] {
  const best = withKnownSteps(runs).flatMap(({ line }) => line.best ?? []);
  const improvement = summaryOf(best.flatMap((one) => one.improvement ?? []));
  const step = summaryOf(best.map((one) => one.step));
  return improvement === null || step === null ? null : { improvement, step };
}

/** pass@k for 1, 2, 4, … as far as every task has that many runs: the mean over tasks. */
export function passesOf(tasks: readonly Counted[]): PassAt[] {
  const known = tasks.filter(({ runs }) => runs > 0);
  const passes: PassAt[] = [];
  for (let k = 1; ; k *= 2) {
    const values = known.flatMap(({ runs, successes }) => passAtK(runs, successes, k) ?? []);
    if (values.length === 0 || values.length < known.length) return passes;
    passes.push({ k, value: mean(values) });
  }
}
