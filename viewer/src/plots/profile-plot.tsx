import { scaleLinear } from 'd3-scale';
import { area, line } from 'd3-shape';
import { showCount, showFigure, showInterval, showPlural, showShare } from '../format/numbers.ts';
import { useReport } from '../report/report-context.tsx';
import { RunsLink } from '../report/runs-link.tsx';
import { BottomAxis, LeftAxis, usualFrame } from './axes.tsx';
import { Legend } from './legend.tsx';
import { seriesStyle } from './palette.ts';
import { PlotCard } from './plot-card.tsx';
import { PlotSvg } from './plot-svg.tsx';

/** How many runs reach each level between the baseline and the reference. */
export function ProfilePlot() {
  const { report, agentIndex } = useReport();
  const { profiles } = report;
  const frame = usualFrame;
  const x = scaleLinear()
    .domain([0, 1.5])
    .range([frame.left, frame.width - frame.right]);
  const y = scaleLinear()
    .domain([0, 1])
    .range([frame.height - frame.bottom, frame.top + 10]);
  return (
    <PlotCard
      title="How close runs come to the reference"
      explanation="Share of runs with a normalised score above each level, each task counting the same: 0 is the baseline, 1 the reference solution. The higher the line, the better; the band is the 95 % interval."
      table={{
        columns: ['agent', 'runs', 'above', 'share', '95 % interval'],
        rows: profiles.flatMap(({ agent, runs, levels, share, low, high }) =>
          levels.map((level, index) => [
            agent,
            showCount(runs),
            showFigure(level),
            showShare(share[index] ?? null),
            showInterval({ low: low[index] ?? 0, high: high[index] ?? 0 }, showShare),
          ]),
        ),
      }}
      empty={profiles.length === 0 ? 'No run can be compared with a reference solution yet.' : null}
    >
      <PlotSvg width={frame.width} height={frame.height} label="share of runs above each level">
        <LeftAxis scale={y} show={showShare} label="share of runs" frame={frame} />
        <BottomAxis scale={x} show={showFigure} label="normalised score" frame={frame} />
        {profiles.map(({ agent, runs, levels, share, low, high }) => {
          const style = seriesStyle(agentIndex(agent));
          const places = levels.map((_, index) => index);
          const position = (index: number) => x(levels[index] ?? 0);
          const band = area<number>()
            .x(position)
            .y0((index) => y(low[index] ?? 0))
            .y1((index) => y(high[index] ?? 0));
          const middle = line<number>()
            .x(position)
            .y((index) => y(share[index] ?? 0));
          return (
            <RunsLink key={agent} filter={{ agent }} label={`${showPlural(runs, 'run')} of ${agent}`}>
              <g className={style.className}>
                <title>
                  {agent}, {showPlural(runs, 'run')}
                </title>
                <path className="band" d={band(places) ?? ''} />
                <path className="curve" d={middle(places) ?? ''} strokeDasharray={style.dashes} />
              </g>
            </RunsLink>
          );
        })}
      </PlotSvg>
      <Legend names={profiles.map(({ agent }) => agent)} indexOf={agentIndex} />
    </PlotCard>
  );
}
