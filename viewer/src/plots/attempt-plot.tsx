import { Choice } from '../parts/choice.tsx';
import { useAddressChoice } from '../parts/use-address-choice.ts';
import { useReport } from '../report/report-context.tsx';
import { AttemptTree, attemptTable, treeExplanation } from './attempt-tree.tsx';
import { PlotCard } from './plot-card.tsx';

/** The attempts of one run at a time, if there are agents that search. */
export function AttemptPlot() {
  const { report } = useReport();
  const searches = report.runs.flatMap(({ experiment, run, attempts }) =>
    attempts === undefined ? [] : [{ name: `${experiment}/${run}`, run, attempts }],
  );
  const choices = Object.fromEntries(searches.map(({ name, run }) => [name, { title: run }]));
  const [chosen, setChosen] = useAddressChoice('attempts-of', choices, searches[0]?.name ?? '');
  const attempts = searches.find(({ name }) => name === chosen)?.attempts ?? [];
  if (searches.length === 0) return null;
  return (
    <PlotCard
      title="What a search tried"
      explanation={treeExplanation}
      table={attemptTable(attempts)}
      controls={<Choice label="Run" value={chosen} choices={choices} onChange={setChosen} />}
      wide
    >
      <AttemptTree attempts={attempts} />
    </PlotCard>
  );
}
