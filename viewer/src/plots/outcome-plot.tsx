import type { Outcome, RunGroup } from '../../../src/schema/index.ts';
import { showCount, showPlural, showWords } from '../format/numbers.ts';
import { useReport } from '../report/report-context.tsx';
import { PlotCard } from './plot-card.tsx';
import { StackedBars } from './stacked-bars.tsx';

export const outcomes: readonly Outcome[] = [
  'success',
  'small_improvement',
  'no_improvement',
  'invalid',
  'infrastructure',
  'unfinished',
];

/** The outcomes of each agent's runs. */
export function OutcomePlot() {
  const { report } = useReport();
  return (
    <PlotCard
      title="Outcomes"
      explanation="Each run has one outcome. Small improvement: better than the baseline, but not beyond the threshold. Invalid: no submission that could be graded. Infrastructure: not the agent's fault."
      table={{
        columns: ['agent', ...outcomes.map(outcomeWords)],
        rows: report.rows.map((row) => [
          row.agent,
          ...outcomes.map((outcome) => showCount(countOf(row, outcome))),
        ]),
      }}
    >
      <StackedBars
        most={1}
        bars={report.rows.map((row) => ({
          name: row.agent,
          note: showPlural(row.runs, 'run'),
          parts: outcomes.map((outcome) => ({
            name: outcomeWords(outcome),
            className: `outcome-${outcome}`,
            value: countOf(row, outcome) / Math.max(1, row.runs),
            shown: showCount(countOf(row, outcome)),
            filter: { agent: row.agent, outcome },
          })),
        }))}
      />
    </PlotCard>
  );
}

/** A run that has ended but was not graded is in no rate either. */
function outcomeWords(outcome: Outcome): string {
  return outcome === 'unfinished' ? 'unfinished or not graded' : showWords(outcome);
}

function countOf(group: RunGroup, outcome: Outcome): number {
  return group.outcomes[outcome] ?? 0;
}
