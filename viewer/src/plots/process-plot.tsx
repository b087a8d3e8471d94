import { showCount, showFigure, showShare } from '../format/numbers.ts';
import { Scroll } from '../parts/scroll.tsx';
import { type RunFilter, useReport } from '../report/report-context.tsx';
import { RunsLink } from '../report/runs-link.tsx';
import { seriesStyle } from './palette.ts';
import { PlotCard } from './plot-card.tsx';

/** By path in `ProcessMetrics`; yes-or-no measures and shares are in per cent. */
export const processMeasures = [
  { path: 'grounding.claims', title: 'numbers claimed as results', show: showFigure },
  { path: 'grounding.ungrounded', title: '… without a measurement', show: showFigure },
  { path: 'debugging.executions', title: 'executions', show: showFigure },
  { path: 'debugging.failed', title: '… that failed', show: showFigure },
  { path: 'debugging.recovery_rate', title: 'chains of failures recovered from', show: showShare },
  { path: 'waste.repeated_actions', title: 'actions repeated on an unchanged workspace', show: showFigure },
  { path: 'waste.edits', title: 'edits', show: showFigure },
  { path: 'waste.edits_never_executed', title: '… never executed', show: showFigure },
  { path: 'waste.format_errors', title: 'replies in a wrong format', show: showFigure },
  { path: 'endings.unverified', title: 'ended without having run the final code', show: showShare },
  { path: 'endings.stale_submission', title: 'ended with a stale submission', show: showShare },
  { path: 'progress.regret', title: 'lost from the best step to the end', show: showShare },
  {
    path: 'progress.validation_rank_correlation',
    title: 'own validation against hidden score (rank)',
    show: showFigure,
  },
] as const;

/** Measures of the process: means over runs. */
export function ProcessPlot() {
  const { report } = useReport();
  const lines = processMeasures
    .map((measure) => ({
      ...measure,
      values: report.rows.map(({ process }) => process[measure.path] ?? null),
      runs: report.rows.map(({ process_runs: runs }) => runs[measure.path] ?? 0),
    }))
    .filter(({ values }) => values.some((value) => value !== null));
  return (
    <PlotCard
      wide
      title="Process measures"
      explanation="Means over the runs that ended, computed from traces alone, with the number of runs behind each. Bars are scaled to the largest in their row. docs/evaluation.md defines each measure."
      table={{
        columns: ['measure', ...report.rows.map(({ agent }) => agent)],
        rows: lines.map(({ title, show, values, runs }) => [
          title,
          ...values.map((value, index) => withRuns(show(value), runs[index])),
        ]),
      }}
      empty={lines.length === 0 ? 'No run has ended.' : null}
    >
      <MeterTable
        agents={report.rows.map(({ agent }) => agent)}
        lines={lines.map(({ path, title, show, values, runs }) => ({
          title,
          cells: values.map((value, index) => ({
            ...{ value, shown: withRuns(show(value), runs[index]), filter: { measure: path } },
          })),
        }))}
      />
    </PlotCard>
  );
}

/** A mean, and its number of runs. */
function withRuns(shown: string, runs: number | undefined): string {
  return runs === undefined || runs === 0 ? shown : `${shown} (${showCount(runs)})`;
}

interface MeterLine {
  title: string;
  cells: readonly { value: number | null; shown: string; filter: RunFilter }[];
}

/** A table whose cells have a bar behind their number. */
export function MeterTable({ agents, lines }: { agents: readonly string[]; lines: readonly MeterLine[] }) {
  const { agentIndex } = useReport();
  return (
    <Scroll className="table-scroll" label="measures by agent">
      <table className="meters">
        <thead>
          <tr>
            <th scope="col">measure</th>
            {agents.map((agent) => (
              <th key={agent} scope="col">
                {agent}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {lines.map(({ title, cells }) => {
            const most = Math.max(1e-9, ...cells.map(({ value }) => Math.abs(value ?? 0)));
            return (
              <tr key={title}>
                <th scope="row">{title}</th>
                {cells.map(({ value, shown, filter }, index) => {
                  const agent = agents[index] ?? '';
                  return (
                    <td key={agent}>
                      <RunsLink
                        filter={{ agent, ...filter }}
                        className={`meter ${seriesStyle(agentIndex(agent)).className}`}
                        label={`${agent}, ${title}: ${shown}`}
                      >
                        <span
                          className="meter-bar"
                          style={{ width: `${(Math.abs(value ?? 0) / most) * 100}%` }}
                        />
                        <span>{shown}</span>
                      </RunsLink>
                    </td>
                  );
                })}
              </tr>
            );
          })}
        </tbody>
      </table>
    </Scroll>
  );
}
