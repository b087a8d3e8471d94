import { join } from 'node:path';
import { z } from 'zod';
import { writeFileAtomically } from '../lib/atomic-file.ts';
import { withFileLock } from '../lib/file-lock.ts';
import { RunId } from '../schema/index.ts';
import { parseStoredText, readTextIfThere } from './documents.ts';

/** Why a run without an end is in no queue any more. */
const Reason = z.object({ state: z.enum(['failed', 'cancelled']), why: z.string() });
export type UnqueuedReason = z.infer<typeof Reason>;
export type UnqueuedRuns = ReadonlyMap<string, UnqueuedReason>;

/** `unqueued.json` of an experiment. Thousands of runs may share a reason. */
const Unqueued = z.object({
  v: z.literal(1),
  /** When its jobs were last cancelled, in milliseconds since 1970. */
  cancelled: z.number().nullable(),
  groups: z.array(Reason.extend({ runs: z.array(RunId) })),
});
type Unqueued = z.infer<typeof Unqueued>;

const nothing: Unqueued = { v: 1, cancelled: null, groups: [] };

/**
 * The runs whose jobs ended, or were cancelled, before the runs did. What the runs recorded is not here.
 * @param experiment its folder
 */
export function unqueuedRuns(experiment: string): UnqueuedRuns {
  return new Map(
    read(experiment).groups.flatMap(({ runs, ...reason }) => runs.map((run) => [run, reason] as const)),
  );
}

/** When the jobs of an experiment were last cancelled; null: never. Commands that follow them look for a change. */
export const lastCancelled = (experiment: string): number | null => read(experiment).cancelled;

/** Tells all commands that follow the experiment's jobs to stop. */
export async function noteCancelling(experiment: string): Promise<void> {
  await change(experiment, (now) => ({ ...now, cancelled: Date.now() }));
}

/** @param reason null: these runs are queued again */
export async function noteUnqueued(
  experiment: string,
  runs: readonly RunId[],
  reason: UnqueuedReason | null,
): Promise<void> {
  if (runs.length === 0 || (reason === null && read(experiment).groups.length === 0)) return;
  const noted = new Set<string>(runs);
  await change(experiment, (now) => {
    const left = now.groups.map((group) => ({ ...group, runs: group.runs.filter((run) => !noted.has(run)) }));
    const groups = reason === null ? left : [...left, { ...reason, runs: [...runs] }];
    return { ...now, groups: groups.filter((group) => group.runs.length > 0) };
  });
}

async function change(experiment: string, changed: (now: Unqueued) => Unqueued): Promise<void> {
  await withFileLock(join(experiment, 'unqueued.lock'), {}, async () =>
    writeFileAtomically(pathIn(experiment), `${JSON.stringify(changed(read(experiment)))}\n`),
  );
}

function read(experiment: string): Unqueued {
  const path = pathIn(experiment);
  const text = readTextIfThere(path);
  return text === null ? nothing : parseStoredText(Unqueued, text, path);
}

const pathIn = (experiment: string): string => join(experiment, 'unqueued.json');
