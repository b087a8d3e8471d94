import type { Report } from '../../schema/index.ts';
import type { Field } from './cells.ts';
import type { DocumentTable } from './document.ts';

/** A table of a report: its rows, and what each column shows of a row. */
export interface TableDefinition<Row> {
  title: string;
  note: string;
  rows: (report: Report) => readonly Row[];
  fields: readonly Field<Row>[];
}

/** The same table, for any report. */
export function define<Row>(
  definition: TableDefinition<Row>,
): (name: string, report: Report) => DocumentTable {
  return (name, report) => {
    const { title, note, fields } = definition;
    const rows = definition.rows(report).map((row) => fields.map(({ cell }) => cell(row)));
    return { name, title, note, columns: fields, rows };
  };
}
