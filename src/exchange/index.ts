export {
  type ImportedRun,
  type ImportOptions,
  type ImportResult,
  importOriginalRuns,
} from './import/import-runs.ts';
