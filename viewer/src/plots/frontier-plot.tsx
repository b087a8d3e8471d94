import { scaleLinear } from 'd3-scale';
import type { Frontier } from '../../../src/schema/index.ts';
import { showCounts, showMoney, showSeconds, showShare } from '../format/numbers.ts';
import { Choice } from '../parts/choice.tsx';
import { useAddressChoice } from '../parts/use-address-choice.ts';
import { useReport } from '../report/report-context.tsx';
import { RunsLink } from '../report/runs-link.tsx';
import { BottomAxis, LeftAxis, usualFrame } from './axes.tsx';
import { Legend } from './legend.tsx';
import { Mark } from './mark.tsx';
import { seriesStyle } from './palette.ts';
import { PlotCard } from './plot-card.tsx';
import { PlotSvg } from './plot-svg.tsx';
import { everyTask, taskChoices } from './task-choices.ts';

const costs = {
  seconds: { title: 'against time', show: showSeconds, label: 'wall time of a run' },
  money: { title: 'against money', show: showMoney, label: 'US dollars of a run' },
} as const;
type Cost = keyof typeof costs;

/** How often agents succeed, and the cost of a run. */
export function FrontierPlot() {
  const { report, agentIndex } = useReport();
  const usual = hasMoney(report.frontiers) ? 'money' : 'seconds';
  const [cost, setCost] = useAddressChoice<Cost>('cost', costs, usual);
  const choices = taskChoices(report.tasks);
  const [task, setTask] = useAddressChoice('cost-of', choices, everyTask);
  const frontier = report.frontiers.find(
    (known) => known.cost === cost && (known.task ?? everyTask) === task,
  );
  const points = frontier?.points ?? [];
  return (
    <PlotCard
      title="Success against cost"
      explanation="Up and to the left is better. An agent is on the frontier (joined, with a ring) if no other agent is at least as good in both success and cost and better in one of them."
      table={{
        columns: ['agent', costs[cost].label, 'success', 'runs', 'on the frontier'],
        rows: points.map((point) => [
          point.agent,
          costs[cost].show(point.cost),
          showShare(point.success),
          showCounts(point),
          point.on_frontier ? 'yes' : 'no',
        ]),
      }}
      controls={
        <>
          <Choice label="Task" value={task} choices={choices} onChange={setTask} />
          <Choice label="Cost" value={cost} choices={costs} onChange={setCost} />
        </>
      }
      empty={
        points.length > 0
          ? null
          : cost === 'money'
            ? 'The cost of these runs is not known.'
            : 'No run has ended.'
      }
    >
      <Points points={points} cost={cost} task={task} />
      <Legend names={points.map(({ agent }) => agent)} indexOf={agentIndex} />
    </PlotCard>
  );
}

function hasMoney(frontiers: readonly Frontier[]): boolean {
  return frontiers.some(({ cost, points }) => cost === 'money' && points.some((point) => point.cost > 0));
}

function Points({ points, cost, task }: { points: Frontier['points']; cost: Cost; task: string }) {
  const { agentIndex } = useReport();
  const frame = usualFrame;
  const x = scaleLinear()
    .domain([0, Math.max(1e-9, ...points.map((point) => point.cost)) * 1.1])
    .range([frame.left, frame.width - frame.right]);
  const y = scaleLinear()
    .domain([0, 1])
    .range([frame.height - frame.bottom, frame.top + 10]);
  const best = points.filter((point) => point.on_frontier).sort((a, b) => a.cost - b.cost);
  return (
    <PlotSvg width={frame.width} height={frame.height} label="success against cost">
      <LeftAxis scale={y} show={showShare} label="success rate" frame={frame} />
      <BottomAxis scale={x} show={costs[cost].show} label={costs[cost].label} frame={frame} ticks={5} />
      <polyline
        className="frontier-line"
        points={best.map((point) => `${x(point.cost)},${y(point.success)}`).join(' ')}
      />
      {points.map((point) => {
        const style = seriesStyle(agentIndex(point.agent));
        const words = `${point.agent}: ${showShare(point.success)} (${showCounts(point)}) at ${costs[cost].show(point.cost)}${point.on_frontier ? ', on the frontier' : ''}`;
        return (
          <RunsLink
            key={point.agent}
            filter={task === everyTask ? { agent: point.agent } : { agent: point.agent, task }}
            label={words}
          >
            <g className={style.className}>
              <title>{words}</title>
              {point.on_frontier ? (
                <circle className="ring" cx={x(point.cost)} cy={y(point.success)} r={10} />
              ) : null}
              <Mark shape={style.shape} x={x(point.cost)} y={y(point.success)} size={90} />
            </g>
          </RunsLink>
        );
      })}
    </PlotSvg>
  );
}
