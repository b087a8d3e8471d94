import type { RateMean, Report } from '../../../src/schema/index.ts';
import {
  nothing,
  showChange,
  showCount,
  showCounts,
  showFigure,
  showInterval,
  showMoney,
  showPlural,
  showSeconds,
  showShare,
  showTokens,
} from '../format/numbers.ts';
import { Scroll } from '../parts/scroll.tsx';
import { Mark } from '../plots/mark.tsx';
import { seriesStyle } from '../plots/palette.ts';
import { useReport } from './report-context.tsx';
import { RunsLink } from './runs-link.tsx';

/** One line per agent: the answer to "which is better?" before any plot. */
export function ResultsTable() {
  const { report } = useReport();
  return (
    <Scroll className="table-scroll" label="results by agent">
      <table className="results">
        <thead>
          <tr>
            <th scope="col">agent</th>
            <th scope="col" className="number">
              runs
            </th>
            <th scope="col">success, 95 % interval</th>
            <th scope="col" className="number">
              significant
            </th>
            <th scope="col" className="number">
              improvement
            </th>
            <th scope="col" className="number">
              95 % interval
            </th>
            <th scope="col" className="number">
              IQM
            </th>
            <th scope="col" className="number">
              95 % interval
            </th>
            <th scope="col" className="number">
              time
            </th>
            <th scope="col" className="number">
              tokens
            </th>
            <th scope="col" className="number">
              money
            </th>
          </tr>
        </thead>
        <tbody>
          {report.rows.map((row) => (
            <ResultLine key={row.agent} row={row} />
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function ResultLine({ row }: { row: Report['rows'][number] }) {
  const { agentIndex } = useReport();
  const style = seriesStyle(agentIndex(row.agent));
  const { efficiency } = row;
  const tokens = efficiency === null ? null : efficiency.tokens;
  return (
    <tr>
      <th scope="row">
        <RunsLink filter={{ agent: row.agent }} className="agent-name">
          <svg width={14} height={12} aria-hidden="true" className={style.className}>
            <Mark shape={style.shape} x={6} y={6} size={56} />
          </svg>
          {row.agent}
        </RunsLink>
      </th>
      <td className="number">{showCount(row.runs)}</td>
      <td>
        <RateBar success={row.success} />
        <UncertainRuns row={row} />
      </td>
      <td className="number">
        <CountedRate rate={row.significant} />
      </td>
      <td className="number">{showChange(row.improvement?.mean ?? null)}</td>
      <td className="number quiet">{showInterval(row.improvement?.interval ?? null, showChange)}</td>
      <td className="number">
        {showFigure(row.normalised_iqm?.value ?? null)}
        <NormalisedRuns row={row} />
      </td>
      <td className="number quiet">{showInterval(row.normalised_iqm?.interval ?? null, showFigure)}</td>
      <td className="number">{showSeconds(efficiency?.seconds.wall ?? null)}</td>
      <td className="number">
        {showTokens(
          tokens === null
            ? null
            : tokens.agent.prompt + tokens.agent.completion + tokens.tools.prompt + tokens.tools.completion,
          tokens === null ? 0 : tokens.agent.estimated + tokens.tools.estimated,
        )}
      </td>
      <td className="number">
        {showMoney(efficiency?.money ?? null)}
        {efficiency === null || efficiency.money === null || efficiency.priced === efficiency.runs ? null : (
          <span className="quiet">
            {' '}
            {showCount(efficiency.priced)} of {showCount(efficiency.runs)} known
          </span>
        )}
      </td>
    </tr>
  );
}

/** A rate with its counts of runs. */
function CountedRate({ rate }: { rate: RateMean | null }) {
  if (rate === null) return nothing;
  return (
    <>
      {showShare(rate.mean)} <span className="quiet">{showCounts(rate)}</span>
    </>
  );
}

/** How many runs have a normalised score, if the rate counts more. */
function NormalisedRuns({ row: { normalised, success } }: { row: Report['rows'][number] }) {
  if (normalised === null || success === null || normalised.runs === success.runs) return null;
  return (
    <span className="quiet">
      {' '}
      of {showCount(normalised.runs)} of {showCount(success.runs)} runs
    </span>
  );
}

/** Runs that the rate leaves out, and runs that count as no success though nothing was measured. */
function UncertainRuns({ row }: { row: Report['rows'][number] }) {
  const failures = row.outcomes.infrastructure;
  const { without_infrastructure: without } = row.rates;
  return (
    <>
      {row.unfinished === 0 ? null : (
        <div className="quiet">{showCount(row.unfinished)} not finished or not graded: not counted</div>
      )}
      {failures === 0 ? null : (
        <div className="quiet">
          {showPlural(failures, 'infrastructure failure')}; without:{' '}
          {without === null ? 'no run' : <CountedRate rate={without} />}
        </div>
      )}
    </>
  );
}

function RateBar({ success }: { success: RateMean | null }) {
  if (success === null) return <span className="quiet">no run has been graded</span>;
  const { mean: rate, interval } = success;
  return (
    <span className="rate">
      <span className="rate-number">{showShare(rate)}</span>
      <span className="quiet">{showCounts(success)}</span>
      <svg width={120} height={14} aria-hidden="true" className="rate-bar">
        <rect className="rate-back" x={0} y={4} width={120} height={6} rx={3} />
        <rect className="rate-fill" x={0} y={4} width={120 * rate} height={6} rx={3} />
        {interval === null ? null : (
          <path className="whisker" d={`M${120 * interval.low},2v10m0,-5H${120 * interval.high}m0,-5v10`} />
        )}
      </svg>
      <span className="quiet">{showInterval(interval, showShare)}</span>
    </span>
  );
}
