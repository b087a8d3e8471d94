import type { TraceEvent } from './event.ts';

/**
 * The seconds of its budget that a run has used after an event, given those before it: not all events say so.
 * @param event of any branch, in the order of the trace
 */
export function secondsUsedAfter(event: TraceEvent, before: number): number {
  switch (event.kind) {
    case 'session_started':
    case 'run_ended':
      return event.seconds_used;
    case 'step_finished':
      return event.budget.seconds_used;
    case 'model_call':
      return secondsUsedAfterCall(event, before);
    default:
      return before;
  }
}

/** The same after a call: those of the agent say it, but in older traces only if the run has branches. */
export function secondsUsedAfterCall(
  call: { step: number | null; seconds_used?: number | undefined; answer?: unknown; latency_ms: number },
  before: number,
): number {
  if (call.step !== null) return before;
  return call.seconds_used ?? before + (call.answer === null ? 0 : call.latency_ms / 1000);
}
