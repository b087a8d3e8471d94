import { agentLabel, statusOf } from '../evaluation/index.ts';
import type { Grade, RunStatus } from '../schema/index.ts';
import type { RunOutcome } from '../statistics/index.ts';
import type { Experiment } from '../store/index.ts';
import type { Context } from './context.ts';
import { locateExperiment } from './locate.ts';

/** A run as lists and reports show it. */
export interface RunSummary extends RunOutcome {
  experiment: string;
  run: string;
  status: RunStatus;
  message: string;
}

/** Every planned run of an experiment with its final grade. */
export function outcomesOf(context: Context, name: string): RunSummary[] {
  return summariesOf(locateExperiment(context, name));
}

export function summariesOf(experiment: Experiment): RunSummary[] {
  return experiment.plan.runs.map((spec) => {
    const folder = experiment.runFolder(spec.id);
    const record = folder.readRecord();
    const grade = folder.readGrades().grades.findLast(({ final }) => final) ?? null;
    return {
      experiment: experiment.plan.name,
      run: spec.id,
      task: spec.task,
      agent: agentLabel(spec),
      seed: spec.seed,
      status: statusOf(folder, record),
      end: record?.end?.reason ?? null,
      message: record?.end?.message ?? '',
      grade: grade === null ? null : shortGrade(grade),
      steps: record?.steps ?? 0,
      seconds: record?.seconds_used ?? 0,
      tokens: record?.spent?.tokens ?? null,
      money: record?.spent === undefined || record.spent.unpriced > 0 ? null : record.spent.money,
      marks: spec.marks,
    };
  });
}

function shortGrade({
  valid,
  score,
  baseline,
  direction,
  threshold,
  stale,
}: Grade): NonNullable<RunOutcome['grade']> {
  return { valid, score, baseline, direction, threshold, stale };
}
