import { Link } from 'react-router';
import type { AgentComparison, ComparedMeasure } from '../../../src/schema/index.ts';
import { showDifference, showInterval, showPoints, showTest } from '../format/numbers.ts';
import { Scroll } from '../parts/scroll.tsx';
import { useReport } from './report-context.tsx';

const measures: readonly { key: ComparedMeasure; title: string; show: (value: number) => string }[] = [
  { key: 'success', title: 'success, percentage points', show: showPoints },
  { key: 'normalised', title: 'mean normalised score', show: showDifference },
  { key: 'superiority', title: 'superiority', show: showDifference },
];

/** Every pair of agents, and whether their difference is beyond noise. */
export function DifferencesTable({
  compareHref,
}: {
  compareHref: ((a: string, b: string) => string) | null;
}) {
  const { comparisons } = useReport().report;
  if (comparisons.length === 0) return null;
  return (
    <section aria-labelledby="differences-title">
      <h3 id="differences-title">Is one better than another?</h3>
      <p className="explanation">
        A minus B on the tasks that both have runs of. Superiority: how much more likely A is to have the
        better score. Beyond noise: a permutation test, corrected for all comparisons (Holm), finds p &lt;
        0.05.
      </p>
      <Scroll className="table-scroll" label="differences between agents">
        <table className="numbers">
          <thead>
            <tr>
              <th scope="col">A minus B</th>
              {measures.map(({ key, title }) => (
                <th key={key} scope="col">
                  {title}
                </th>
              ))}
              <th scope="col">tasks</th>
            </tr>
          </thead>
          <tbody>
            {comparisons.map((comparison) => (
              <Line
                key={`${comparison.a}\u0000${comparison.b}`}
                comparison={comparison}
                compareHref={compareHref}
              />
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}

function Line({
  comparison: { a, b, tasks, differences },
  compareHref,
}: {
  comparison: AgentComparison;
  compareHref: ((a: string, b: string) => string) | null;
}) {
  const name = `${a} minus ${b}`;
  return (
    <tr>
      <th scope="row">{compareHref === null ? name : <Link to={compareHref(b, a)}>{name}</Link>}</th>
      {measures.map(({ key, show }) => {
        const found = differences[key];
        if (found === undefined) return <td key={key}>–</td>;
        const { interval } = found;
        return (
          <td key={key}>
            <strong>{show(found.value)}</strong>{' '}
            {interval === null ? null : <span className="quiet">{showInterval(interval, show)}</span>}{' '}
            <span className={found.beyond_noise ? 'beyond' : 'quiet'}>
              {found.beyond_noise ? '✓ beyond noise' : 'may be noise'} ({showTest(found)})
            </span>
          </td>
        );
      })}
      <td>{tasks.length}</td>
    </tr>
  );
}
