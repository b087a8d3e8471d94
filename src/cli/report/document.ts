/** The content of one cell: text for people, a value for machines. */
export interface DocumentCell {
  text: string;
  value: DocumentValue;
  /** Values of the additional columns for machines. */
  also?: readonly DocumentValue[];
}

export type DocumentValue = string | number | boolean | null;

export interface DocumentColumn {
  /** For people. */
  title: string;
  /** For machines: lower-case words joined by `_`. */
  name: string;
  /** Additional columns for machines that people see as one: the bounds of an interval. */
  also?: readonly string[];
  align?: 'left' | 'right';
  /** Left out at a terminal, which is too narrow for all columns. */
  isDetail?: true;
  /** Left out where a terminal is too narrow for all columns, the largest number first; absent: never. */
  spare?: number;
  /** The interval of the column before it. */
  isInterval?: true;
  /** What a reader must know about a row: a terminal shows it below the table. */
  isCaveat?: true;
  /** What the column shows, for the notes below the table. */
  note?: string;
}

export interface DocumentTable {
  /** The name that `--table` takes. */
  name: string;
  title: string;
  /** A sentence or two about what the numbers are. */
  note: string;
  columns: readonly DocumentColumn[];
  rows: readonly (readonly DocumentCell[])[];
}

/** A report as people read it, before it gets a format. */
export interface ReportDocument {
  title: string;
  /** Sentences before the tables. */
  summary: readonly string[];
  tables: readonly DocumentTable[];
}
