import type { MeanEfficiency } from '../../../src/schema/index.ts';
import { showSeconds } from '../format/numbers.ts';
import { useReport } from '../report/report-context.tsx';
import { PlotCard } from './plot-card.tsx';
import { StackedBars } from './stacked-bars.tsx';

type Seconds = MeanEfficiency['seconds'];

const parts = [
  { name: 'language models', className: 'time-model', of: ({ model }: Seconds) => model },
  { name: 'scripts and commands', className: 'time-execution', of: ({ execution }: Seconds) => execution },
  { name: 'tracing and snapshots', className: 'time-overhead', of: ({ overhead }: Seconds) => overhead },
  {
    name: "the agent's own",
    className: 'time-agent',
    of: ({ wall, model, execution, overhead }: Seconds) => Math.max(0, wall - model - execution - overhead),
  },
] as const;

/** Where the wall time of runs went. */
export function TimePlot() {
  const { report } = useReport();
  const rows = report.rows.flatMap(({ agent, efficiency }) =>
    efficiency === null ? [] : [{ agent, seconds: efficiency.seconds }],
  );
  return (
    <PlotCard
      title="Where the time went"
      explanation="Wall time of a run, mean over the runs that ended. Waiting for providers counts against no limit and is not in the bars; it is shown beside them."
      table={{
        columns: ['agent', ...parts.map(({ name }) => name), 'wall', 'waiting'],
        rows: rows.map(({ agent, seconds }) => [
          agent,
          ...parts.map(({ of }) => showSeconds(of(seconds))),
          showSeconds(seconds.wall),
          showSeconds(seconds.waiting),
        ]),
      }}
      empty={rows.length === 0 ? 'No run has ended.' : null}
    >
      <StackedBars
        most={Math.max(1e-9, ...rows.map(({ seconds }) => seconds.wall))}
        bars={rows.map(({ agent, seconds }) => ({
          name: agent,
          note:
            showSeconds(seconds.wall) +
            (seconds.waiting > 0 ? `, waited ${showSeconds(seconds.waiting)}` : ''),
          parts: parts.map(({ name, className, of }) => ({
            name,
            className,
            value: of(seconds),
            shown: showSeconds(of(seconds)),
            filter: { agent },
          })),
        }))}
      />
    </PlotCard>
  );
}
