export { anyAgentOfRun, findAnyAgent } from './agents/find-agent.ts';
export type { AgentPlace } from './agents/python-agent.ts';
export { archiveAttempt } from './archived-attempts.ts';
export { type BranchAsked, isSameRun, makeBranchPlan } from './branch-plan.ts';
export {
  type Cancellation,
  cancellationText,
  type ExecutorPlace,
  type RemoteExecutor,
  type WorkerChecks,
} from './executors/executor-kind.ts';
export { cancelJobs, chooseExecutor, executorFor, executorNames, noteCancelled } from './executors/index.ts';
export { type Outage, outageText } from './executors/outage.ts';
export { listWorkers, redisAddress, serveRedis } from './executors/redis/index.ts';
export { providersThrough } from './executors/run-gateways.ts';
export { waitingJobs } from './executors/slurm/waiting-jobs.ts';
export {
  type ExperimentProgress,
  type ExperimentServices,
  type IncompleteRuns,
  type RunResult,
  runExperiment,
} from './experiment.ts';
export { experimentModels, type FurtherCosts, furtherCosts, spentByAll } from './experiment-models.ts';
export { makeForkPlan } from './fork-plan.ts';
export { GpuLeases, type HeldGpus } from './gpus/gpu-leases.ts';
export { type Amounts, Capacity, gpusOf, machineAmounts } from './jobs/capacity.ts';
export { executeJob } from './jobs/execute-job.ts';
export type { Executor, Following } from './jobs/executor.ts';
export { type JobHost, type Machine, workerHost } from './jobs/job-host.ts';
export { type JobResult, notBegun } from './jobs/job-result.ts';
export { checkLeaks } from './leaks/check-leaks.ts';
export { type LeakCheckName, type LeakCheckReport, leakChecks } from './leaks/leak-check.ts';
export {
  type MeasuredScript,
  type MeasuredSeed,
  type Measurement,
  type MeasureTaskOptions,
  measureFolder,
  measureTask,
} from './measure-task.ts';
export { openRegistry } from './open-registry.ts';
export { type Bundle, type BundleOptions, ensureBundle, knownBundle } from './outside/bundle.ts';
export { bundleOfRun, checkDialect } from './outside/program-bundle.ts';
export { makePlan, type PlannedAgent, type PlannedTask } from './plan.ts';
export { provision } from './provision.ts';
export { type RunReplay, replayRun } from './replay-run.ts';
export { scriptCrash } from './script-crash.ts';
export { executeRun } from './session/execute-run.ts';
export { failureCauses } from './session/run-failure.ts';
export { type ExperimentModels, toolModelFor } from './tool-model.ts';
export type { ValidationAttempt } from './validation-agents/attempts.ts';
export { type CheckTaskOptions, checkFolder, checkTask } from './validation-agents/check-task.ts';
export { type ValidationAgentReport, whatStopped } from './validation-agents/judge.ts';
export type { Probe, ValidationAgent } from './validation-agents/validation-agent.ts';
export { validationAgents, validationAgentsByName } from './validation-agents/validation-agents.ts';
export { type VerifyRunOptions, verifyRun } from './verification/verify-run.ts';
export {
  createWorkspace,
  isReadOnly,
  type RunFolders,
  sandboxSpec,
  type TaskResources,
} from './workspace.ts';
