/** What one cell shows: to people as a text, to machines as a value. */
export interface DocumentCell {
  text: string;
  value: DocumentValue;
  /** Values of the machines' further columns. */
  also?: readonly DocumentValue[];
}

export type DocumentValue = string | number | boolean | null;

export interface DocumentColumn {
  /** For people. */
  title: string;
  /** For machines: lower-case words joined by `_`. */
  name: string;
  /** Further columns for machines, where people see one: the bounds of an interval. */
  also?: readonly string[];
  align?: 'left' | 'right';
  /** Left out at a terminal, which is too narrow for all. */
  isDetail?: true;
}

export interface DocumentTable {
  /** What `--table` calls it. */
  name: string;
  title: string;
  /** A sentence or two on what the numbers are. */
  note: string;
  columns: readonly DocumentColumn[];
  rows: readonly (readonly DocumentCell[])[];
}

/** A report as people read it, before it is put into a format. */
export interface ReportDocument {
  title: string;
  /** Sentences that stand before the tables. */
  summary: readonly string[];
  tables: readonly DocumentTable[];
}
