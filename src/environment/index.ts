export { checkAction } from './action.ts';
export { actionDefinitions, describeActions, offeredActions } from './action-definitions.ts';
export type { BranchPlace, BranchPlaces, BranchStart } from './branch-place.ts';
export { briefInside, helpersInside, outputsName } from './command-runner.ts';
export type { Ending } from './ending.ts';
export type {
  ActionDescription,
  ArgumentDescription,
  Branch,
  Environment,
  GiveUpReason,
  ModelReply,
  StepResult,
  SubmissionSeen,
} from './environment.ts';
export type { FixedFile } from './fixed-files.ts';
export type { Gate, GateDecision, ProposedAction } from './gate.ts';
export { RunWaits } from './gate-waits.ts';
export { ExperimentQuotaUsed, type RunModels } from './model-access.ts';
export { ModelNotDeclared } from './model-not-declared.ts';
export { cutMiddle } from './output.ts';
export { type EndedTurn, ProgramEnvironment } from './program-environment.ts';
export { type RecordedRun, type RecordedStep, recordedRun } from './recorded-run.ts';
export { ReplayDiverged } from './replay-differences.ts';
export {
  ReplayEnvironment,
  type ReplayEnvironmentOptions,
  TraceExhausted,
} from './replay-environment.ts';
export { readAction } from './requested-action.ts';
export { RunEnvironment } from './run-environment.ts';
export type { RunEnvironmentOptions } from './run-environment-options.ts';
export { RunStopped } from './run-stopped.ts';
export type { StepProgress } from './step-progress.ts';
export { mountPoints } from './step-recorder.ts';
export { workspaceInside } from './workspace-path.ts';
