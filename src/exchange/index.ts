export {
  type ExportFormat,
  type ExportResult,
  exportFormats,
  exportRuns,
  type RunExportOptions,
} from './export/export-runs.ts';
export { type TableName, tableNames, tables } from './export/tables/columns.ts';
export {
  type ChosenRuns,
  type ExportedTables,
  type ExportTablesOptions,
  exportTables,
  type TableFormat,
  tableFormats,
} from './export/tables/export-tables.ts';
export {
  type ImportedRun,
  type ImportOptions,
  type ImportResult,
  importOriginalRuns,
} from './import/import-runs.ts';
