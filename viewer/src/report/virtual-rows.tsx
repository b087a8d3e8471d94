import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useRef } from 'react';
import { showPlural, showWords } from '../format/numbers.ts';
import { Scroll } from '../parts/scroll.tsx';
import type { RunRow, TableLine } from './run-rows.ts';
import { usePrinting } from './use-printing.ts';

interface VirtualRowsProps {
  lines: readonly TableLine[];
  head: ReactNode;
  row: (row: RunRow) => ReactNode;
  columns: number;
}

const lineHeight = 30;

/**
 * Draws only the lines of a table that are in view, with space for the others above and below; when printing, all of
 * them.
 */
export function VirtualRows({ lines, head, row, columns: width }: VirtualRowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => lineHeight,
    overscan: 12,
    initialRect: { width: 1000, height: 600 },
  });
  const printing = usePrinting();
  const items = virtual.getVirtualItems();
  const shown = printing ? [...lines.keys()] : items.map(({ index }) => index);
  const above = printing ? 0 : (items[0]?.start ?? 0);
  const below = printing ? 0 : virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    <Scroll className="runs-scroll" label="table of runs" box={box}>
      <table className="runs-table" aria-rowcount={lines.length + 1}>
        <thead>{head}</thead>
        <tbody>
          {above > 0 ? (
            <tr>
              <td colSpan={width} style={{ height: above, padding: 0 }} />
            </tr>
          ) : null}
          {shown.map((index) => {
            const line = lines[index];
            if (line === undefined) return null;
            if (line.kind === 'run') {
              return (
                <tr key={index} aria-rowindex={index + 2}>
                  {row(line.row)}
                </tr>
              );
            }
            return (
              <tr key={index} aria-rowindex={index + 2} className="group-line">
                <th colSpan={width} scope="rowgroup">
                  {showWords(line.name)} <span className="quiet">{showPlural(line.rows.length, 'run')}</span>
                </th>
              </tr>
            );
          })}
          {below > 0 ? (
            <tr>
              <td colSpan={width} style={{ height: below, padding: 0 }} />
            </tr>
          ) : null}
        </tbody>
      </table>
      {lines.length === 0 ? (
        <p className="empty-note">No runs match these filters. Remove one to see more.</p>
      ) : null}
    </Scroll>
  );
}
