import { scaleLinear } from 'd3-scale';
import { area, curveStepAfter, line } from 'd3-shape';
import type { CurveAxis, Report, ScoreCurve } from '../../../src/schema/index.ts';
import { showAmount, showChange, showCount, showMoney, showPlural, showSeconds } from '../format/numbers.ts';
import { Choice } from '../parts/choice.tsx';
import { useAddressChoice } from '../parts/use-address-choice.ts';
import { useReport } from '../report/report-context.tsx';
import { RunsLink } from '../report/runs-link.tsx';
import { BottomAxis, LeftAxis, usualFrame } from './axes.tsx';
import { Legend } from './legend.tsx';
import { seriesStyle } from './palette.ts';
import { PlotCard } from './plot-card.tsx';
import { PlotSvg } from './plot-svg.tsx';
import { taskChoices } from './task-choices.ts';

const axes: Record<CurveAxis, { title: string; show: (value: number) => string }> = {
  steps: { title: 'over steps', show: showCount },
  seconds: { title: 'over time', show: showSeconds },
  tokens: { title: 'over tokens', show: showAmount },
  money: { title: 'over money', show: showMoney },
};

/** The improvement of the newest graded step, over the resources used so far. */
export function CurvePlot() {
  const { report, agentIndex } = useReport();
  const tasks = [...new Set(report.curves.map(({ task }) => task))];
  const [axis, setAxis] = useAddressChoice('curve-over', axes, 'steps');
  const choices = taskChoices(tasks, false);
  const [task, setTask] = useAddressChoice<string>('curve', choices, tasks[0] ?? '');
  const curves = report.curves.filter((curve) => curve.task === task && curve.axis === axis);
  const { show } = axes[axis];
  return (
    <PlotCard
      title="Hidden score on the way"
      explanation="The improvement that the workspace would have scored at each point: median across runs, and the band from the first to the third quartile. It is 0 without a valid submission."
      table={{
        columns: ['agent', axis, 'first quartile', 'median', 'third quartile'],
        rows: curves.flatMap(({ agent, at, low, median, high }) =>
          at.map((position, index) => [
            agent,
            show(position),
            showChange(low[index] ?? null),
            showChange(median[index] ?? null),
            showChange(high[index] ?? null),
          ]),
        ),
      }}
      controls={
        tasks.length === 0 ? undefined : (
          <>
            <Choice label="Task" value={task} choices={choices} onChange={setTask} />
            <Choice label="Axis" value={axis} choices={axes} onChange={setAxis} />
          </>
        )
      }
      empty={emptyNote(report, curves.length, axis)}
      wide={tasks.length === 0}
    >
      <Curves curves={curves} axis={axis} />
      <Legend names={curves.map(({ agent }) => agent)} indexOf={agentIndex} />
    </PlotCard>
  );
}

function emptyNote({ experiments, curves: all }: Report, curves: number, axis: CurveAxis): string | null {
  if (all.length === 0)
    return `Only final submissions are graded so far. \`mlab grade ${experiments.join(' ')} --steps all\` grades every step.`;
  if (curves > 0) return null;
  return axis === 'money'
    ? 'The cost of these runs is not known.'
    : `Nothing was measured over ${axis} here.`;
}

function Curves({ curves, axis }: { curves: readonly ScoreCurve[]; axis: CurveAxis }) {
  const { agentIndex } = useReport();
  const frame = usualFrame;
  const values = curves.flatMap(({ low, high }) => [...low, ...high]);
  const x = scaleLinear()
    .domain([0, Math.max(1e-9, ...curves.flatMap(({ at }) => at))])
    .range([frame.left, frame.width - frame.right]);
  const y = scaleLinear()
    .domain([Math.min(0, ...values), Math.max(0.05, ...values)])
    .range([frame.height - frame.bottom, frame.top + 8])
    .nice();
  return (
    <PlotSvg width={frame.width} height={frame.height} label={`improvement over ${axis}`}>
      <LeftAxis scale={y} show={showChange} label="improvement" frame={frame} />
      <BottomAxis scale={x} show={axes[axis].show} label={axis} frame={frame} ticks={5} />
      <line className="zero-line" x1={frame.left} x2={frame.width - frame.right} y1={y(0)} y2={y(0)} />
      {curves.map((curve) => {
        const style = seriesStyle(agentIndex(curve.agent));
        const places = curve.at.map((_, index) => index);
        const band = area<number>()
          .x((index) => x(curve.at[index] ?? 0))
          .y0((index) => y(curve.low[index] ?? 0))
          .y1((index) => y(curve.high[index] ?? 0))
          .curve(curveStepAfter);
        const middle = line<number>()
          .x((index) => x(curve.at[index] ?? 0))
          .y((index) => y(curve.median[index] ?? 0))
          .curve(curveStepAfter);
        const words = `${curve.agent}: ${showPlural(curve.runs, 'run')}, mean height ${showChange(curve.area)}`;
        return (
          <RunsLink key={curve.agent} filter={{ task: curve.task, agent: curve.agent }} label={words}>
            <g className={style.className}>
              <title>{words}</title>
              <path className="band" d={band(places) ?? ''} />
              <path className="curve" d={middle(places) ?? ''} strokeDasharray={style.dashes} />
            </g>
          </RunsLink>
        );
      })}
    </PlotSvg>
  );
}
