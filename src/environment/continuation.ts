import type { BranchId, BranchOrigin, Budget, ModelRequest } from '../schema/index.ts';
import type { ModelReply, StepResult } from './environment.ts';
import type { RecordedCall } from './recorded-run.ts';
import type { RequestedAction } from './requested-action.ts';

/** The number of a model call of the agent, and whether other requests may be served meanwhile. */
export interface CallOrder {
  asked: number;
  several: boolean;
}

/** Serves the requests that the trace has no result for. `recorded` is called when the result is in the trace. */
export interface Continuation {
  /** @param recorded receives whether the step ended the run; null is returned if the run had ended before */
  step(
    branch: { id: BranchId },
    action: RequestedAction,
    recorded: (ended: boolean) => void,
  ): Promise<StepResult | null>;
  /** `closed` if the run has ended. */
  ask(request: ModelRequest, call: CallOrder, recorded: () => void): Promise<ModelReply>;
  /** The agent received a recorded answer. */
  repeated(request: ModelRequest, call: RecordedCall): void;
  /** False if the run has ended. */
  fork(branch: BranchId, origin: BranchOrigin, recorded: () => void): Promise<boolean>;
  select(branch: BranchId): void;
  note(entries: Record<string, string>): void;
  /** What is left now. */
  budget(): Budget;
}
