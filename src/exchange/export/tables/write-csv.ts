import { appendFileSync, writeFileSync } from 'node:fs';
import { stringify } from 'csv-stringify/sync';
import type { Cell, ColumnKind, Columns, TableWriter } from './columns.ts';

/** A file as RFC 4180 says, in UTF-8. Null is an empty cell, times are in ISO 8601, several texts are divided by `; `. */
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

/** Yes and no as words: the library's own text for false is an empty one. */
const cast = { boolean: (value: boolean) => String(value) };

function line(cells: readonly (string | number | boolean | null)[]): string {
  return stringify([[...cells]], {
    record_delimiter: 'windows',
    quoted_match: /[\r\n]/,
    cast,
    escape_formulas: true,
  });
}
