import type { BranchId, EventOf, FailedAttempt, ModelRequest } from '../schema/index.ts';
import type { StepResult } from './environment.ts';

/** What happens in a run, for a terminal and for logs. */
export type StepProgress =
  | { kind: 'step_started'; branch?: BranchId; step: number; action: string }
  | { kind: 'output'; branch?: BranchId; step: number; text: string }
  | { kind: 'step_finished'; branch?: BranchId; step: number; action: string; result: StepResult }
  | { kind: 'note'; entries: Record<string, string> }
  | { kind: 'model_asked'; role: ModelRequest['role']; purpose: string; model: string }
  | { kind: 'model_retry'; model: string; attempt: FailedAttempt }
  | { kind: 'model_called'; call: EventOf<'model_call'> };
