import type { Budget, Limits, TaskBrief } from '../schema/index.ts';
import type { ObjectStore, TraceWriter } from '../store/index.ts';
import type { ActionDefinition } from './action.ts';
import type { BudgetClock } from './budget-clock.ts';
import type { FixedFile } from './fixed-files.ts';
import type { Gate } from './gate.ts';
import type { GateWaits } from './gate-waits.ts';
import type { ModelAccess } from './model-access.ts';
import type { PendingDecision } from './recorded-run.ts';
import type { RunEnding } from './run-ending.ts';
import type { StepProgress } from './step-progress.ts';
import type { StoredBytes } from './stored-bytes.ts';

/** What all branches of a run share. */
export interface RunParts {
  task: TaskBrief;
  limits: Limits;
  definitions: ReadonlyMap<string, ActionDefinition>;
  /** Host folder of the public data. */
  dataFolder: string;
  isReadOnly: (path: string) => boolean;
  fixedFiles: readonly FixedFile[];
  trace: TraceWriter;
  objects: ObjectStore;
  stored: StoredBytes;
  clock: BudgetClock;
  models: ModelAccess;
  state: RunEnding;
  gate: Gate | undefined;
  gateWaits: GateWaits;
  /** For steps that an earlier session did not finish; each is used once. */
  decisions: PendingDecision[];
  askPerson: ((request: string, signal: AbortSignal) => Promise<string>) | undefined;
  signal: AbortSignal;
  onProgress: ((progress: StepProgress) => void) | undefined;
  /** Counts a step of any branch. */
  countStep: () => void;
  budget: () => Budget;
}
