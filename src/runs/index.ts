export {
  type BrokenRuns,
  type ExperimentProgress,
  type ExperimentServices,
  type RunResult,
  referenceFiles,
  runExperiment,
} from './experiment.ts';
export { makePlan, type PlannedAgent, type PlannedTask } from './plan.ts';
export { runOne } from './run-one.ts';
export {
  createWorkspace,
  isReadOnly,
  type RunFolders,
  sandboxSpec,
  type TaskEquipment,
} from './workspace.ts';
