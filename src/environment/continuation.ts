import type { BranchId, BranchOrigin, Budget, ModelRequest } from '../schema/index.ts';
import type { AskedAction } from './asked-action.ts';
import type { ModelReply, StepResult } from './environment.ts';
import type { RecordedCall } from './recorded-run.ts';

/** The number of the agent's model call, and whether the agent may do other things meanwhile. */
export interface AskedCall {
  asked: number;
  several: boolean;
}

/** Does for an agent what its trace does not have. `recorded` is called when the trace has it. */
export interface Continuation {
  /** @param recorded receives whether the step ended the run; null is returned if the run had ended before */
  step(
    branch: { id: BranchId },
    action: AskedAction,
    recorded: (ended: boolean) => void,
  ): Promise<StepResult | null>;
  /** `closed` if the run has ended. */
  ask(request: ModelRequest, call: AskedCall, recorded: () => void): Promise<ModelReply>;
  /** The agent received a recorded answer. */
  repeated(request: ModelRequest, call: RecordedCall): void;
  /** False if the run has ended. */
  fork(branch: BranchId, origin: BranchOrigin, recorded: () => void): Promise<boolean>;
  select(branch: BranchId): void;
  note(entries: Record<string, string>): void;
  /** What is left now. */
  budget(): Budget;
}
