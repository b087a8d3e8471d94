import type { BranchId, BranchOrigin, Budget, ModelRequest } from '../schema/index.ts';
import type { ModelReply, StepResult } from './environment.ts';
import type { RecordedCall } from './recorded-run.ts';
import type { RequestedAction } from './requested-action.ts';

/** Serves the requests that the trace has no result for. `recorded` is called when the result is in the trace. */
export interface Continuation {
  /** @param recorded receives whether the step ended the run; null is returned if the run had ended before */
  step(
    branch: { id: BranchId },
    action: RequestedAction,
    recorded: (ended: boolean) => void,
  ): Promise<StepResult | null>;
  /** @param asked the number of the agent's call; `closed` is returned if the run has ended */
  ask(request: ModelRequest, asked: number, recorded: () => void): Promise<ModelReply>;
  /** The agent received a recorded answer. */
  repeated(request: ModelRequest, call: RecordedCall): void;
  /** False if the run has ended. */
  fork(branch: BranchId, origin: BranchOrigin, recorded: () => void): Promise<boolean>;
  select(branch: BranchId): void;
  note(entries: Record<string, string>): void;
  /** What is left now. */
  budget(): Budget;
}
