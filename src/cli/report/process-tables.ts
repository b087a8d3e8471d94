import type { ReportRow } from '../../schema/index.ts';
import { countedRate, inWords, quantity, words } from './cells.ts';
import { define } from './define-table.ts';

export const failures = define<ReportRow>({
  title: 'Outcomes',
  note: 'Runs by outcome, and infrastructure failures by cause.',
  rows: ({ rows }) => rows,
  fields: [
    words('agent', 'agent', ({ agent }) => agent),
    quantity('runs', 'runs', ({ runs }) => runs),
    ...(
      ['success', 'small_improvement', 'no_improvement', 'invalid', 'infrastructure', 'unfinished'] as const
    ).map((outcome) =>
      quantity<ReportRow>(outcome, outcome.replaceAll('_', ' '), ({ outcomes }) => outcomes[outcome]),
    ),
    words('ends', 'ended by', ({ ends }) => countsText(ends)),
    words('causes', 'infrastructure', ({ infrastructure }) => countsText(infrastructure)),
    words('errors', 'kinds of failure', ({ errors }) => countsText(errors)),
  ],
});

function countsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${inWords(name)} ${count}`)
    .join(', ');
}

export const integrity = define<ReportRow>({
  title: 'Integrity',
  note: 'Flagged: a rule found a reason to look at the run; mlab runs show prints it. Doubted: the reason is about the result itself, not about something that was tried and stopped. The rates of success are with all runs, and without these.',
  rows: ({ rows }) => rows,
  fields: [
    words('agent', 'agent', ({ agent }) => agent),
    quantity('runs', 'runs', ({ runs }) => runs),
    quantity('flagged', 'flagged', ({ integrity: found }) => found.flagged),
    quantity('doubted', 'doubted', ({ integrity: found }) => found.doubted),
    words('kinds', 'for', ({ integrity: found }) => countsText(found.runs_by_kind)),
    countedRate('success', 'success', ({ rates }) => rates.all),
    countedRate('success_without_flagged', 'without flagged', ({ rates }) => rates.without_flagged),
    countedRate('success_without_doubted', 'without doubted', ({ rates }) => rates.without_doubted),
    countedRate(
      'success_without_infrastructure',
      'without infrastructure failures',
      ({ rates }) => rates.without_infrastructure,
    ),
  ],
});

/** A long table: agents would not fit side by side, and measures vary. */
export const processProfile = define<{ agent: string; measure: string; value: number; runs: number | null }>({
  title: 'Process',
  note: 'Means over the runs that ended; for yes-or-no measures, the share of runs.',
  rows: ({ rows }) =>
    rows.flatMap(({ agent, process, process_runs: runs }) =>
      Object.entries(process).map(([measure, value]) => ({
        ...{ agent, measure, value, runs: runs[measure] ?? null },
      })),
    ),
  fields: [
    words('agent', 'agent', ({ agent }) => agent),
    words('measure', 'measure', ({ measure }) => measure.replaceAll('_', ' ').replace('.', ': ')),
    quantity('value', 'mean', ({ value }) => value),
    quantity('runs', 'runs', ({ runs }) => runs),
  ],
});
