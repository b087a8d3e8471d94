import { scaleLinear } from 'd3-scale';
import { showChange, showCount, showInterval, showPlural } from '../format/numbers.ts';
import { Choice } from '../parts/choice.tsx';
import { useAddressChoice } from '../parts/use-address-choice.ts';
import { useReport } from '../report/report-context.tsx';
import { RunsLink } from '../report/runs-link.tsx';
import { BottomAxis, type Frame } from './axes.tsx';
import { Mark } from './mark.tsx';
import { seriesStyle } from './palette.ts';
import { PlotCard } from './plot-card.tsx';
import { PlotSvg } from './plot-svg.tsx';
import { everyTask, taskChoices } from './task-choices.ts';

interface Line {
  agent: string;
  mean: number;
  interval: { low: number; high: number } | null;
  runs: number;
}

/** Mean improvement by agent with its interval. */
export function ImprovementPlot() {
  const { report } = useReport();
  const choices = taskChoices(report.tasks);
  const [task, setTask] = useAddressChoice('improvement', choices, everyTask);
  const lines = linesOf(report, task);
  const without = report.agents.filter((agent) => !lines.some((line) => line.agent === agent));
  return (
    <PlotCard
      title="Improvement over the baseline"
      explanation="Mean over valid final submissions, each task counting the same, with its 95 % interval. An interval that spans 0 may be noise; a single run on a task has no interval."
      table={{
        columns: ['agent', 'improvement', '95 % interval', 'runs'],
        rows: lines.map(({ agent, mean, interval, runs }) => [
          agent,
          showChange(mean),
          showInterval(interval, showChange),
          showCount(runs),
        ]),
      }}
      controls={<Choice label="Task" value={task} choices={choices} onChange={setTask} />}
      empty={lines.length === 0 ? 'No valid submission has been graded.' : null}
    >
      <Intervals lines={lines} task={task} />
      {without.length === 0 ? null : <p className="quiet">No valid submission: {without.join(', ')}.</p>}
    </PlotCard>
  );
}

function linesOf(report: ReturnType<typeof useReport>['report'], task: string): Line[] {
  if (task === everyTask) {
    return report.rows.flatMap(({ agent, improvement }) =>
      improvement === null
        ? []
        : [{ agent, mean: improvement.mean, interval: improvement.interval, runs: improvement.runs }],
    );
  }
  return report.pairs.flatMap((pair) =>
    pair.task !== task || pair.improvement === null
      ? []
      : [
          {
            agent: pair.agent,
            mean: pair.improvement.mean,
            interval: pair.improvement.mean_interval,
            runs: pair.improvement.count,
          },
        ],
  );
}

function Intervals({ lines, task }: { lines: readonly Line[]; task: string }) {
  const { agentIndex } = useReport();
  const lineHeight = 34;
  const frame: Frame = {
    width: 480,
    height: lines.length * lineHeight + 52,
    left: 30,
    right: 24,
    top: 4,
    bottom: 42,
  };
  const values = lines.flatMap(({ mean, interval }) => [mean, interval?.low ?? mean, interval?.high ?? mean]);
  const x = scaleLinear()
    .domain([Math.min(0, ...values), Math.max(0.1, ...values)])
    .range([frame.left, frame.width - frame.right])
    .nice();
  return (
    <PlotSvg width={frame.width} height={frame.height} label="improvement by agent">
      <BottomAxis scale={x} show={showChange} label="improvement" frame={frame} />
      <line className="zero-line" x1={x(0)} x2={x(0)} y1={frame.top} y2={frame.height - frame.bottom} />
      {lines.map(({ agent, mean, interval, runs }, index) => {
        const y = frame.top + index * lineHeight + 24;
        const style = seriesStyle(agentIndex(agent));
        const words = `${agent}: ${showChange(mean)}, ${showInterval(interval, showChange)}, ${showPlural(runs, 'run')}`;
        return (
          <RunsLink key={agent} filter={task === everyTask ? { agent } : { agent, task }} label={words}>
            <g className={style.className}>
              <title>{words}</title>
              <rect className="hit" x={0} y={y - 22} width={frame.width} height={lineHeight} />
              <text x={frame.left + 6} y={y - 10} className="plot-name">
                {agent}
              </text>
              {interval === null ? null : (
                <line className="whisker" x1={x(interval.low)} x2={x(interval.high)} y1={y} y2={y} />
              )}
              <Mark shape={style.shape} x={x(mean)} y={y} size={80} />
            </g>
          </RunsLink>
        );
      })}
    </PlotSvg>
  );
}
