import {
  hasLostTrace,
  type OriginalFile,
  type OriginalRun,
  type OriginalStep,
} from '../original/original-run.ts';

/** The original's low-level steps that change no file. */
const reading: ReadonlySet<string> = new Set(['Read File', 'List Files']);
const idleActions: ReadonlySet<string> = new Set([
  ...['Read File', 'List Files', 'Understand File', 'Inspect Script Lines', 'Retrieval from Research Log'],
  ...['Reflection', 'Final Answer'],
]);

/** The time of events, in milliseconds since 1970: taken from the recording, and never decreasing. */
export class ImportClock {
  #time = 0;

  now = (): number => this.#time;

  advance(time: number): void {
    this.#time = Math.max(this.#time, time);
  }
}

/**
 * Milliseconds since 1970. The original records how long a run took, up to shortly after its last step; a run that an
 * exception ended may have continued long after it.
 */
export function startOf({ steps, innerSteps, seconds, error }: OriginalRun): number {
  const times = [steps[0], innerSteps[0]].flatMap((step) => (step === undefined ? [] : milliseconds(step)));
  if (times.length === 0) return 0;
  const last = steps.at(-1);
  const isTimed = seconds !== null && error === null && last !== undefined;
  return Math.max(
    0,
    Math.min(...times, ...(isTimed ? [milliseconds(last) - Math.round(seconds * 1000)] : [])),
  );
}

export function milliseconds({ timestamp }: OriginalStep): number {
  return Math.round(timestamp * 1000);
}

/** A low-level step belongs to the first step that ended no earlier. */
export function innerByStep({
  steps,
  innerSteps,
}: Pick<OriginalRun, 'steps' | 'innerSteps'>): Map<number, OriginalStep[]> {
  const inner = new Map<number, OriginalStep[]>();
  let index = 0;
  for (const step of innerSteps) {
    while ((steps[index]?.timestamp ?? Number.POSITIVE_INFINITY) < step.timestamp) index += 1;
    const own = inner.get(index) ?? [];
    own.push(step);
    inner.set(index, own);
  }
  return inner;
}

/** The workspace before the first step is not recorded: it is the one after it, if that step changed nothing. */
export function listingBefore({ steps, innerSteps, snapshots, gaps }: OriginalRun): OriginalFile[] | null {
  const [first] = steps;
  // If the trace is lost, there may have been steps.
  if (first === undefined) return hasLostTrace(gaps) ? null : (snapshots.get('final') ?? null);
  const inside = innerByStep({ steps, innerSteps }).get(0) ?? [];
  const changedNothing =
    idleActions.has(first.action.name) && inside.every(({ action }) => reading.has(action.name));
  return changedNothing ? (snapshots.get(0) ?? null) : null;
}
