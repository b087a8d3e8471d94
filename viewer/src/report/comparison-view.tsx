import { Link } from 'react-router';
import type { Comparison, Difference } from '../../../src/schema/index.ts';
import {
  nothing,
  showAmount,
  showChange,
  showDifference,
  showInterval,
  showMoney,
  showPoints,
  showSeconds,
  showTest,
} from '../format/numbers.ts';
import { Scroll } from '../parts/scroll.tsx';

/** See `sideAddress`. */
export type SideHref = (side: 'a' | 'b', task: string, agent: string | null) => string;

/** The changes from A to B, sentences first. `sideHref` is null if there are no pages of runs. */
export function ComparisonView({
  comparison,
  sideHref,
}: {
  comparison: Comparison;
  sideHref: SideHref | null;
}) {
  const { a, b, pairs, overall, sentences, only_a: onlyA, only_b: onlyB } = comparison;
  return (
    <section aria-labelledby="comparison-title" className="comparison">
      <h2 id="comparison-title">
        From <em>{a}</em> to <em>{b}</em>
      </h2>
      <ul className="sentences">
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <dl className="figures">
        <Overall name="Success rate, percentage points" found={overall.success} show={showPoints} />
        <Overall name="Mean normalised score" found={overall.normalised} show={showDifference} />
        <Overall name="Superiority" found={overall.superiority} show={showDifference} />
        <Cost name="Money of a run" values={overall.money} show={showMoney} />
        <Cost name="Time of a run" values={overall.seconds} show={showSeconds} />
        <Cost name="Tokens of a run" values={overall.tokens} show={showAmount} />
      </dl>
      <Scroll className="table-scroll" label="comparison by task">
        <table className="numbers">
          <thead>
            <tr>
              <th scope="col">task</th>
              <th scope="col">success of {a}</th>
              <th scope="col">success of {b}</th>
              <th scope="col">change in percentage points, 95 % interval</th>
              <th scope="col">better scores</th>
            </tr>
          </thead>
          <tbody>
            {pairs.map((pair) => (
              <tr key={`${pair.task} ${pair.agent}`}>
                <th scope="row">
                  {pair.task} {pair.agent === null ? null : <span className="quiet">{pair.agent}</span>}
                </th>
                <Side {...pair.a} href={sideHref?.('a', pair.task, pair.agent)} />
                <Side {...pair.b} href={sideHref?.('b', pair.task, pair.agent)} />
                <td>
                  <strong>{showPoints(pair.success_change.value)}</strong>{' '}
                  <span className="quiet">{showInterval(pair.success_change.interval, showPoints)}</span>
                </td>
                <td>
                  {showDifference(pair.superiority.value)} <Verdict found={pair.superiority} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <Missing name={a} tasks={onlyA} />
      <Missing name={b} tasks={onlyB} />
    </section>
  );
}

/** How many runs succeeded, and how much they improved on the baseline. */
function Side({
  success,
  improvement,
  href,
}: Comparison['pairs'][number]['a'] & { href: string | undefined }) {
  const count = `${success.successes} of ${success.runs}`;
  return (
    <td>
      {href === undefined ? count : <Link to={href}>{count}</Link>}{' '}
      <span className="quiet">
        {improvement === null ? '' : `${showChange(improvement.mean)} improvement`}
      </span>
    </td>
  );
}

function Verdict({ found }: { found: Difference }) {
  return (
    <span className={found.beyond_noise ? 'beyond' : 'quiet'}>
      {found.beyond_noise ? '✓ beyond noise' : 'may be noise'} ({showTest(found)})
    </span>
  );
}

function Overall({
  name,
  found,
  show,
}: {
  name: string;
  found: Difference | null;
  show: (value: number) => string;
}) {
  const interval = found?.interval ?? null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {found === null ? (
          nothing
        ) : (
          <>
            <strong>{show(found.value)}</strong>{' '}
            {interval === null ? null : <span className="quiet">{showInterval(interval, show)} </span>}
            <Verdict found={found} />
          </>
        )}
      </dd>
    </div>
  );
}

function Cost({
  name,
  values,
  show,
}: {
  name: string;
  values: { a: number | null; b: number | null };
  show: (value: number | null) => string;
}) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {show(values.a)} → <strong>{show(values.b)}</strong>
      </dd>
    </div>
  );
}

function Missing({ name, tasks }: { name: string; tasks: readonly string[] }) {
  return tasks.length === 0 ? null : (
    <p className="quiet">
      Only {name} has runs of: {tasks.join(', ')}.
    </p>
  );
}
