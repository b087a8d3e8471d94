import { Link } from 'react-router';
import { showChange, showCount, showFigure, showMoney, showSeconds, showTokens } from '../format/numbers.ts';
import { OutcomeBadge, StatusBadge } from '../parts/badges.tsx';
import { NumberCell } from '../parts/number-cell.tsx';
import { showFlag } from '../plots/count-plots.tsx';
import { placeWords, type RunRow } from './run-rows.ts';

interface RunCellsProps {
  row: RunRow;
  /** Whether the runs have more than one. */
  several: { experiments: boolean; tasks: boolean };
  /** Whether some run is running somewhere, waits or failed. */
  hasPlaces: boolean;
  href: string | null;
  /** Decimals of the score that has most of them. */
  decimals: number;
  /** `full`: two are selected already. */
  select: { checked: boolean; full: boolean; toggle: () => void } | null;
}

export function RunCells({ row, several, hasPlaces, href, decimals, select }: RunCellsProps) {
  const caveats = [...row.flags.map(showFlag), ...(row.stale ? ['stale submission'] : []), ...row.caveats];
  return (
    <>
      {select === null ? null : (
        <td>
          <input
            type="checkbox"
            checked={select.checked}
            disabled={select.full && !select.checked}
            title={select.full && !select.checked ? 'Two runs are selected: deselect one first.' : undefined}
            onChange={select.toggle}
            aria-label={`select ${row.run}`}
          />
        </td>
      )}
      <th scope="row" title={row.run}>
        {href === null ? row.run : <Link to={href}>{row.run}</Link>}
      </th>
      {several.experiments ? <td>{row.experiment}</td> : null}
      {several.tasks ? <td className="column-task">{row.task}</td> : null}
      <td className="column-agent" title={row.agent}>
        {row.agent}
      </td>
      <td className="column-status">
        <StatusBadge status={row.status} end={row.end} />
      </td>
      <td>
        <OutcomeBadge outcome={row.outcome} ended={row.end !== null} />
      </td>
      <NumberCell shown={showFigure(row.score)} decimals={decimals} />
      <td className="number">{showChange(row.improvement)}</td>
      <td className="number">{showCount(row.steps)}</td>
      <td className="number">{showSeconds(row.seconds)}</td>
      <td className="number">{showTokens(row.tokens, row.tokens_estimated)}</td>
      <td className="number">{showMoney(row.money)}</td>
      {hasPlaces ? (
        <td className="place" title={placeWords(row)}>
          {placeWords(row)}
        </td>
      ) : null}
      <td className="caveats" title={caveats.join(', ')}>
        {caveats.join(', ')}
      </td>
    </>
  );
}
