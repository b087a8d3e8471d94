export { isNoisy } from './check-figures.ts';
export { checkGrader } from './check-grader.ts';
export { concealedBy, concealedFolders, type HarnessFolders } from './concealed.ts';
export { saveFigures, withFigures } from './figures.ts';
export { type FoundTasks, findTasks, loadTask, suites } from './find-tasks.ts';
export { checkCacheDisk, checkInstaller, checkKaggle, checkPython } from './findings.ts';
export { changedFiles } from './folder-version.ts';
export type { HostVariables } from './host-variables.ts';
export { madeUpFigures, madeUpTable } from './new/made-up-table.ts';
export { type TableFacts, tableFacts } from './new/table-facts.ts';
export { type NewTask, writeTask } from './new/write-task.ts';
export {
  checkData,
  type LoadPreparedOptions,
  loadPrepared,
  type PrepareOptions,
  prepareTask,
} from './prepare.ts';
export { prepareAgain } from './prepare-again.ts';
export { dataVersion, type PreparedData, type PreparedManifest } from './prepared-data.ts';
export {
  type EnsurePythonOptions,
  ensurePython,
  ensureUv,
  knownPython,
  type PythonEnvironment,
} from './python-environment.ts';
export { matchesReadOnly } from './read-only-files.ts';
export { lockFile, readRequirements, withLock } from './requirements.ts';
export { runProcess, tail } from './run-process.ts';
export { dataCaveats, sampleCaveat, sampleOf, unverifiedCaveat } from './sample.ts';
export type { BuildWheel, WheelRequest } from './source-packages.ts';
export type { Task } from './task-folder.ts';
export { describeProblem, type TaskProblem } from './task-problem.ts';
export { validateTask } from './validate-task.ts';
export { type WithheldContent, withheldContents, withheldPaths } from './withheld.ts';
export {
  declaredMean,
  type MeasuredFigures,
  type TaskFigures,
  writeFigures,
} from './write-figures.ts';
