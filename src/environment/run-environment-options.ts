import type { Sandbox } from '../sandbox/index.ts';
import type { Limits, TaskBrief } from '../schema/index.ts';
import type { ObjectStore, Snapshotter, TraceWriter } from '../store/index.ts';
import type { BranchPlaces } from './branch-place.ts';
import type { ClockKind } from './budget-clock.ts';
import type { FixedFile } from './fixed-files.ts';
import type { Gate } from './gate.ts';
import type { RunModels } from './model-access.ts';
import type { RecordedRun } from './recorded-run.ts';
import type { StepProgress } from './step-progress.ts';

/** The parts of a run's environment. */
export interface RunEnvironmentOptions {
  task: TaskBrief;
  limits: Limits;
  /** Host folders: the workspace, the public data, outputs too long for an observation. */
  folders: { workspace: string; data: string; outputs: string };
  /** Whether the agent may change this file of the workspace. */
  isReadOnly: (path: string) => boolean;
  /** Read-only files of the task that the sandbox mounts into the workspace; default: none. */
  fixedFiles?: readonly FixedFile[];
  sandbox: Sandbox;
  trace: TraceWriter;
  objects: ObjectStore;
  snapshotter: Snapshotter;
  /** What earlier sessions did; it is replayed to the agent before anything new is done. */
  recorded: RecordedRun;
  secondsUsedBefore: number;
  /** What counts against the time limit; default: all time. */
  clock?: ClockKind | undefined;
  /** Absent: the run has no language model, and actions that need one are not offered. */
  models?: RunModels | undefined;
  /** Asks the person who watches the run; absent: there is none, and Request Help is not offered. */
  askPerson?: ((request: string, signal: AbortSignal) => Promise<string>) | undefined;
  /** Makes workspaces for branches; absent: the run can't be forked. */
  branches?: BranchPlaces | undefined;
  /** How many branches may take a step at once; absent: all. */
  branchesAtOnce?: number | undefined;
  /** Decides on every valid action before it is performed; absent: all are allowed. */
  gate?: Gate | undefined;
  /**
   * If everything in the run has waited for the gate for this long, the session stops with `RunWaits`; absent: it
   * waits. In milliseconds.
   */
  longestGateWait?: number | undefined;
  signal: AbortSignal;
  /** Called for every step and for output as it arrives, for a terminal. */
  onProgress?: ((progress: StepProgress) => void) | undefined;
}
