import {
  ActionStatus,
  type GradedStep,
  type StepReading,
  type StepStatus,
  type StepSummary,
  type StepWarning,
  type Timeline,
} from '../../schema/index.ts';
import { type ColumnName, cell, hasTail, shownSteps } from '../trace/trace-table.ts';
import { openStatus, type TracedRun } from './step-page.ts';

/** What is known of a run besides its trace. */
export interface KnownOfRun {
  grades: readonly GradedStep[];
  warnings: readonly StepWarning[];
  readings: readonly StepReading[];
  summaries: readonly StepSummary[];
  pending: boolean;
}

export const notJudged: KnownOfRun = {
  grades: [],
  warnings: [],
  readings: [],
  summaries: [],
  pending: false,
};

const statuses: StepStatus[] = [...ActionStatus.options, 'running', 'cut_off'];

/** The steps of a range, by column: those that ended, and the current one. */
export function timelineOf(
  run: TracedRun,
  judged: KnownOfRun,
  from = 1,
  to = Number.POSITIVE_INFINITY,
): Timeline {
  const { table } = run;
  const total = shownSteps(table);
  const [first, last] = [Math.max(from, 1), Math.min(to, total)];
  const isInside = ({ step }: { step: number }) => step >= (first === 1 ? 0 : first) && step <= to;
  const column = (name: ColumnName) =>
    Array.from({ length: Math.max(0, last - first + 1) }, (_, index) =>
      first + index <= table.steps ? cell(table, name, first + index) : openCell(run, name),
    );
  return {
    ...{ total, has_tail: hasTail(table), from: first, actions: table.actions, statuses },
    ...{ action: column('action'), status: column('status'), started: column('started') },
    ...{ duration_ms: column('duration_ms'), seconds_used: column('seconds_used'), calls: column('calls') },
    ...{ tokens: column('tokens'), changed: column('changed') },
    grades: judged.grades.filter(isInside),
    warnings: judged.warnings.filter(isInside),
    readings: judged.readings.filter(isInside),
    summaries: judged.summaries.filter(isInside),
    replaced: column('proposed').flatMap((place, index) =>
      place === 0 ? [] : [{ step: first + index, action: place - 1 }],
    ),
    pending: judged.pending,
  };
}

function openCell(run: TracedRun, name: ColumnName): number {
  const { table } = run;
  const { now, steps } = table;
  switch (name) {
    case 'status':
      return statuses.indexOf(openStatus(run));
    case 'started':
    case 'action':
    case 'proposed':
    case 'calls':
    case 'tokens':
      return now[name];
    case 'seconds_used':
      return steps === 0 ? 0 : cell(table, 'seconds_used', steps);
    default:
      return 0;
  }
}
