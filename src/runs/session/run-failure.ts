import { ExperimentQuotaUsed, ReplayDiverged } from '../../environment/index.ts';
import { hasCode, messageOf, UserError } from '../../lib/errors.ts';
import { sentence } from '../../lib/sentence.ts';
import { ModelUnavailable } from '../../models/index.ts';
import { SandboxError } from '../../sandbox/index.ts';
import { ModelFailure, type RunRecord } from '../../schema/index.ts';

/** The workers of the run died or were cut off repeatedly. */
export const workerLost = 'worker_lost';

/** No program in the run's sandbox could use its GPU. */
export const unusableGpu = 'gpu_unusable';

/** The causes of infrastructure failures. */
export const failureCauses: readonly string[] = [
  ...ModelFailure.options,
  ...['sandbox', 'experiment_limit', 'replay_diverged', 'disk_full', unusableGpu, workerLost],
];

const restartHint =
  'What the agent is told or how it decides has changed since: undo that, or start the run over (--incomplete restart).';

/** An infrastructure failure, as the end of a run. */
export function infrastructureFailure(error: unknown): NonNullable<RunRecord['end']> {
  return { reason: 'infrastructure_error', message: explainedFailure(error), ...causeOf(error) };
}

/** What happened, and what to do about it. */
export function explainedFailure(error: unknown): string {
  if (ModelUnavailable.isInstance(error))
    return `No answer from the language model: ${sentence(error.message)} ${error.hint}`;
  if (SandboxError.isInstance(error)) return `The sandbox can't start: ${error.message} ${error.hint}`;
  if (error instanceof ReplayDiverged)
    return `It can't go on from its trace: ${error.message} ${restartHint}`;
  if (UserError.isInstance(error) && error.code === workerLost) return `${error.message} ${error.hint}`;
  if (isDiskFull(error))
    return `The disk is full: ${messageOf(error)}. Free some space; then run the same command again.`;
  return messageOf(error);
}

function isDiskFull(error: unknown): boolean {
  return hasCode(error, 'ENOSPC') || hasCode(error, 'EDQUOT');
}

/** The cause in one word, by which reports distinguish failures. */
function causeOf(error: unknown): { cause?: string } {
  if (ModelUnavailable.isInstance(error)) return { cause: error.failure };
  if (SandboxError.isInstance(error)) return { cause: 'sandbox' };
  if (error instanceof ExperimentQuotaUsed) return { cause: 'experiment_limit' };
  if (error instanceof ReplayDiverged) return { cause: 'replay_diverged' };
  if (hasCode(error, workerLost)) return { cause: workerLost };
  if (isDiskFull(error)) return { cause: 'disk_full' };
  if (hasCode(error, unusableGpu)) return { cause: unusableGpu };
  return {};
}
