export { briefInside, helpersInside, outputsName } from './command-runner.ts';
export type { Ending } from './ending.ts';
export type { ActionDescription, ArgumentDescription, Environment, StepResult } from './environment.ts';
export type { FixedFile } from './fixed-files.ts';
export { type RecordedRun, type RecordedStep, ReplayDiverged, recordedRun } from './replay.ts';
export {
  actionDefinitions,
  mountPoints,
  RunEnvironment,
  RunStopped,
} from './run-environment.ts';
export type { RunEnvironmentOptions, StepProgress } from './run-environment-options.ts';
export { workspaceInside } from './workspace-path.ts';
