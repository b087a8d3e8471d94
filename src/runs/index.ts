export type { Attempt } from './controls/attempts.ts';
export { type CheckTaskOptions, checkFolder, checkTask } from './controls/check-task.ts';
export type { Control, Probe } from './controls/control.ts';
export { controls, controlsByName } from './controls/controls.ts';
export { type ControlReport, whatStopped } from './controls/judge.ts';
export {
  type BrokenRuns,
  type ExperimentProgress,
  type ExperimentServices,
  type RunResult,
  runExperiment,
} from './experiment.ts';
export { experimentModels } from './experiment-models.ts';
export { makeForkPlan } from './fork-plan.ts';
export { checkLeaks } from './leaks/check-leaks.ts';
export { type LeakCheckName, type LeakCheckReport, leakChecks } from './leaks/leak-check.ts';
export {
  type Measured,
  type MeasuredSeed,
  type Measurement,
  type MeasureTaskOptions,
  measureFolder,
  measureTask,
} from './measure-task.ts';
export { makePlan, type PlannedAgent, type PlannedTask } from './plan.ts';
export { type RunReplay, replayRun } from './replay-run.ts';
export { runOne } from './run-one.ts';
export { type ExperimentModels, toolModelFor } from './tool-model.ts';
export { type VerifyRunOptions, verifyRun } from './verification/verify-run.ts';
export {
  createWorkspace,
  isReadOnly,
  type RunFolders,
  sandboxSpec,
  type TaskEquipment,
} from './workspace.ts';
