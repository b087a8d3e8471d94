import type { ReportPair } from '../../../src/schema/index.ts';
import { nothing, showChange, showCount, showCounts, showFigure, showShare } from '../format/numbers.ts';
import { Choice } from '../parts/choice.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { useAddressChoice, useAddressText } from '../parts/use-address-choice.ts';
import { useReport } from '../report/report-context.tsx';
import { RunsLink } from '../report/runs-link.tsx';
import { shadeOf } from './palette.ts';
import { PlotCard } from './plot-card.tsx';

const measures = {
  success: {
    title: 'Success rate',
    show: showShare,
    most: 1,
    explanation:
      'Share of runs whose final submission beats the baseline beyond the threshold of the task (10 % unless the task says otherwise).',
  },
  improvement: {
    title: 'Improvement',
    show: showChange,
    most: 1,
    explanation:
      'Mean improvement of valid final submissions over the baseline; + is better, whatever the direction of the metric.',
  },
  normalised: {
    title: 'Mean normalised score',
    show: showFigure,
    most: 1,
    explanation:
      'Mean over runs of (score − baseline) / (reference − baseline): 0 is the baseline, 1 the reference solution.',
  },
} as const;
type Measure = keyof typeof measures;

/** The number of runs behind a measure. */
function runsOf(cell: ReportPair | undefined, measure: Measure): string {
  if (cell === undefined) return 'no run';
  return measure === 'success' ? showCounts(cell.success) : showCount(cell[measure]?.count ?? 0);
}

/** Tasks by agents; on request, with the paper's published results for these tasks beside them. */
export function HeatMap() {
  const { report } = useReport();
  const [measure, setMeasure] = useAddressChoice('map', measures, 'success');
  const [paper, setPaper] = useAddressText('paper', 'no');
  const published = paper === 'yes';
  const { show, most, explanation } = measures[measure];
  const matrix = report.heat_map[measure];
  const others = published ? report.published : [];
  const cellAt = (task: string, agent: string) =>
    report.pairs.find((cell) => cell.task === task && cell.agent === agent);
  return (
    <PlotCard
      wide={report.agents.length + others.length > 4}
      title="Tasks by agents"
      explanation={explanation}
      table={{
        columns: ['task', ...report.agents],
        rows: report.tasks.map((task, row) => [
          task,
          ...report.agents.map((agent, column) =>
            [show(matrix[row]?.[column] ?? null), runsOf(cellAt(task, agent), measure)].join(', '),
          ),
        ]),
      }}
      controls={
        <>
          <Choice label="Measure" value={measure} choices={measures} onChange={setMeasure} />
          {report.published.length === 0 || measure === 'normalised' ? null : (
            <label className="check">
              <input
                type="checkbox"
                checked={published}
                onChange={(event) => setPaper(event.target.checked ? 'yes' : 'no')}
              />
              beside the paper's numbers
            </label>
          )}
        </>
      }
    >
      <Scroll className="table-scroll" label="heat map">
        <table className="heat-map">
          <thead>
            <tr>
              <th scope="col">task</th>
              {report.agents.map((agent) => (
                <th key={agent} scope="col">
                  {agent}
                </th>
              ))}
              {others.map(({ agent }) => (
                <th key={`published ${agent}`} scope="col" className="published">
                  {agent} <span className="quiet">(paper)</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {report.tasks.map((task, row) => (
              <tr key={task}>
                <th scope="row">{task}</th>
                {report.agents.map((agent, column) => {
                  const value = matrix[row]?.[column] ?? null;
                  const cell = cellAt(task, agent);
                  const runs = runsOf(cell, measure);
                  return (
                    <td key={agent}>
                      {cell === undefined ? (
                        <span className="heat heat-none" title="no run">
                          <span aria-hidden="true">{nothing}</span>
                          <span className="visually-hidden">no run</span>
                        </span>
                      ) : (
                        <RunsLink
                          filter={{ task, agent }}
                          className={`heat ${shadeOf(value, most)}`}
                          label={`${task}, ${agent}: ${show(value)}, ${runs}`}
                        >
                          {show(value)} <span className="heat-runs">{runs}</span>
                        </RunsLink>
                      )}
                    </td>
                  );
                })}
                {others.map(({ agent, tasks }) => {
                  const found = tasks.find((entry) => entry.task === task);
                  const value = measure === 'success' ? found?.success_rate : found?.improvement;
                  return (
                    <td key={`published ${agent}`}>
                      <span className={`heat ${shadeOf(value ?? null, most)}`}>{show(value ?? null)}</span>
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <p className="quiet">
        Small numbers count the runs behind a rate or mean; a click leads to all runs. The stronger its
        colour, the better; hatched is worse than the baseline.
      </p>
    </PlotCard>
  );
}
