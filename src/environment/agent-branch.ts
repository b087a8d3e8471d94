import type { Action, BranchId, BranchOrigin } from '../schema/index.ts';
import type { Branch, StepResult, SubmissionSeen } from './environment.ts';
import { StepQueue } from './step-queue.ts';

export interface AgentBranchParts {
  id: BranchId;
  origin: BranchOrigin | null;
  pauses: () => boolean;
  step: (branch: AgentBranch, action: Action) => Promise<StepResult>;
  fork: (branch: AgentBranch, at: number | undefined) => Promise<Branch>;
}

/** A branch as its agent knows it: its last step, and the queue of its requests. */
export class AgentBranch implements Branch {
  readonly id: BranchId;
  readonly origin: BranchOrigin | null;
  readonly queue: StepQueue;
  /** Whether it is in the trace: a branch that is forked after the end of the run never is. */
  isOpen = false;
  lastStep: number;
  /** The submission after the last step that the agent knows of. */
  submission: SubmissionSeen = { present: false, written_at_step: null, stale: false };
  readonly #parts: AgentBranchParts;

  constructor(parts: AgentBranchParts) {
    this.#parts = parts;
    this.id = parts.id;
    this.origin = parts.origin;
    this.lastStep = parts.origin?.step ?? 0;
    this.queue = new StepQueue(parts.pauses);
    this.isOpen = parts.origin === null;
  }

  step(action: Action): Promise<StepResult> {
    return this.#parts.step(this, action);
  }

  fork(at?: number): Promise<Branch> {
    return this.#parts.fork(this, at);
  }

  note(result: StepResult): StepResult {
    this.lastStep = result.step;
    this.submission = result.submission;
    return result;
  }
}
