export {
  type ExportFormat,
  type ExportOptions,
  type ExportResult,
  exportFormats,
  exportRuns,
} from './export/export-runs.ts';
export {
  type ImportedRun,
  type ImportOptions,
  type ImportResult,
  importOriginalRuns,
} from './import/import-runs.ts';
