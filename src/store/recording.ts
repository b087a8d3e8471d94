import { sha256 } from '../lib/hash.ts';
import type { RunRecord } from '../schema/index.ts';

/**
 * Tells a recording from every other one, and not from its copies: each line of a trace contains the hash of the one
 * before and a time, so the last one's hash stands for the whole trace. A run without a trace is known by its process.
 */
export function recordingOf({ spec, started, trace, pid, host }: RunRecord): string {
  const recorded = trace === undefined || trace.events === 0 ? [pid, host.name ?? null] : [trace.hash];
  return sha256(JSON.stringify([spec.experiment, spec.id, started, ...recorded]));
}

/** The same for the beginning of a recording, which copies that continue differently share. */
export function beginningOf({ spec, started }: RunRecord): string {
  return sha256(JSON.stringify([spec.experiment, spec.id, started]));
}
