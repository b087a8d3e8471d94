import { appendFileSync, writeFileSync } from 'node:fs';
import { stringify } from 'csv-stringify/sync';
import type { Cell, ColumnKind, Columns, TableWriter } from './columns.ts';

/** An RFC 4180 file in UTF-8. Null is an empty cell, times are in ISO 8601, several texts are separated by `; `. */
export function writeCsv(path: string, columns: Columns): TableWriter {
  const kinds = Object.entries(columns);
  writeFileSync(path, line(Object.keys(columns)), { flag: 'wx' });
  return {
    async add(rows) {
      const lines = rows.map((row) => line(kinds.map(([name, kind]) => csvCell(kind, row[name] ?? null))));
      appendFileSync(path, lines.join(''));
    },
    async finish() {},
  };
}

function csvCell(kind: ColumnKind, cell: Cell): string | number | boolean | null {
  if (kind === 'time' && typeof cell === 'number') return new Date(cell).toISOString();
  return typeof cell === 'object' && cell !== null ? cell.join('; ') : cell;
}

/** Booleans as words: the library writes false as an empty string. */
const cast = { boolean: (value: boolean) => String(value) };

function line(cells: readonly (string | number | boolean | null)[]): string {
  return stringify([[...cells]], {
    record_delimiter: 'windows',
    quoted_match: /[\r\n]/,
    cast,
    escape_formulas: true,
  });
}
