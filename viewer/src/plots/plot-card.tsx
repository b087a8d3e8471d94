import { type ReactNode, useId } from 'react';
import { Scroll } from '../parts/scroll.tsx';
import { Words } from '../parts/words.tsx';

export interface PlotTable {
  columns: readonly string[];
  rows: readonly (readonly string[])[];
}

interface PlotCardProps {
  title: string;
  /** What is measured and how to read it, in a sentence or two. */
  explanation: ReactNode;
  /** The numbers of the plot. */
  table: PlotTable;
  controls?: ReactNode;
  /** The text in place of the plot if there is nothing to draw. */
  empty?: string | null;
  wide?: boolean;
  children: ReactNode;
}

/** A plot with its explanation and its numbers. */
export function PlotCard({
  title,
  explanation,
  table,
  controls,
  empty,
  wide = false,
  children,
}: PlotCardProps) {
  const id = useId();
  return (
    <section className={wide ? 'card card-wide' : 'card'} aria-labelledby={id}>
      <header className="card-head">
        <h3 id={id}>{title}</h3>
        {controls === undefined ? null : <div className="card-controls">{controls}</div>}
      </header>
      <p className="explanation">{explanation}</p>
      {empty === undefined || empty === null ? (
        children
      ) : (
        <p className="empty-note">
          <Words text={empty} />
        </p>
      )}
      {table.rows.length === 0 ? null : (
        <details className="plot-data">
          <summary>Numbers of this plot</summary>
          <NumbersTable {...table} label={title} />
        </details>
      )}
    </section>
  );
}

export function NumbersTable({ columns, rows, label }: PlotTable & { label: string }) {
  return (
    <Scroll className="table-scroll" label={label}>
      <table className="numbers">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells) => (
            <tr key={cells.join('\u0000')}>
              {cells.map((cell, index) =>
                index === 0 ? (
                  <th key={columns[index]} scope="row">
                    {cell}
                  </th>
                ) : (
                  <td key={columns[index]}>{cell}</td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
