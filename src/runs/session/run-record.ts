import { cpus, hostname, release, totalmem } from 'node:os';
import type { RunRecord, RunSpec, Spent } from '../../schema/index.ts';
import {
  nothingSpent,
  type RunFolder,
  readTraceSync,
  sessionsOf,
  spentOf,
  stepsOf,
} from '../../store/index.ts';

/**
 * The record of a run that begins now, or resumes.
 * @param held how the limits are enforced, as by `limitsHeld`
 */
export async function beginRecord(
  spec: RunSpec,
  folder: RunFolder,
  versions: Record<string, string>,
  held: Record<string, string>,
): Promise<RunRecord> {
  const earlier = folder.readRecord();
  const record: RunRecord = {
    v: 1,
    spec,
    status: 'running',
    end: null,
    versions,
    host: {
      name: hostname(),
      system: `${process.platform} ${release()} ${process.arch}`,
      cores: cpus().length,
      memory_mb: Math.round(totalmem() / 2 ** 20),
      ...held,
    },
    pid: process.pid,
    started: earlier?.started ?? Date.now(),
    updated: Date.now(),
    steps: earlier?.steps ?? 0,
    seconds_used: earlier?.seconds_used ?? 0,
    ...(earlier?.spent === undefined ? {} : { spent: earlier.spent }),
    ...(earlier?.gpus === undefined ? {} : { gpus: earlier.gpus }),
    ...sharedPart(spec, folder, earlier),
  };
  await folder.writeRecord(record);
  return record;
}

/** For a run that begins with the steps of another one: what those used. */
function sharedPart(spec: RunSpec, folder: RunFolder, earlier: RunRecord | null): Pick<RunRecord, 'shared'> {
  if (earlier !== null) return earlier.shared === undefined ? {} : { shared: earlier.shared };
  if (spec.parent === undefined) return {};
  const { steps = 0, seconds_used = 0, spent = nothingSpent } = recordedSoFar(folder);
  return { shared: { steps, seconds_used, spent } };
}

/** The result of a session, as in its record. */
export type ScriptOutcome = Pick<RunRecord, 'status'> &
  Partial<Pick<RunRecord, 'end' | 'steps' | 'seconds_used' | 'spent' | 'waits_for' | 'gpus'>>;

export async function endRecord(
  record: RunRecord,
  folder: RunFolder,
  { spent, ...outcome }: ScriptOutcome,
): Promise<RunRecord> {
  const ended: RunRecord = {
    ...{ ...record, ...outcome, pid: null, updated: Date.now() },
    ...(spent === undefined || isNothing(spent) ? {} : { spent }),
  };
  await folder.writeRecord(ended);
  return ended;
}

/**
 * The end of a run whose trace is complete: its writer may have been killed, or found the disk full, before the record
 * was written. Null if the run goes on, or was cut off before it had a trace.
 */
export function recordedEnd(folder: RunFolder): ScriptOutcome | null {
  if (!folder.hasTrace()) return null;
  const last = readTraceSync(folder.tracePath).events.at(-1);
  if (last?.kind !== 'run_ended') return null;
  const { reason, message } = last;
  return { status: 'finished', end: { reason, message }, ...recordedSoFar(folder) };
}

/** What a run that did not end properly has done. */
export function recordedSoFar(folder: RunFolder): Pick<ScriptOutcome, 'steps' | 'seconds_used' | 'spent'> {
  try {
    const { events } = readTraceSync(folder.tracePath);
    const { secondsUsed } = sessionsOf(events);
    return { steps: stepsOf(events).length, seconds_used: secondsUsed, spent: spentOf(events) };
  } catch {
    // The trace itself may be damaged.
    return {};
  }
}

function isNothing({ calls, tokens, unpriced }: Spent): boolean {
  return calls === 0 && tokens === 0 && unpriced === 0;
}
