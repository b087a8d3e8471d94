import type { Grade, RunRecord, RunStatus } from '../schema/index.ts';
import type { RunOutcome } from '../statistics/index.ts';
import type { Experiment, RunFolder } from '../store/index.ts';
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
      agent: agentLabel(spec.agent, spec.model, spec.agent_options),
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

/** What the record says, but for a run whose process is gone without having said so. */
function statusOf(folder: RunFolder, record: RunRecord | null): RunStatus {
  if (record === null) return 'pending';
  if (record.status === 'running' && folder.holder() === null) return 'interrupted';
  return record.status;
}

function agentLabel(agent: string, model: string | null, options: Readonly<Record<string, unknown>>): string {
  const chosen = Object.entries(options).map(([name, value]) => `${name}=${String(value)}`);
  const inside = [...(model === null ? [] : [model]), ...chosen];
  return inside.length === 0 ? agent : `${agent}(${inside.join(', ')})`;
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
