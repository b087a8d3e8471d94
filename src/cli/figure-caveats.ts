import type { Measurement } from '../runs/index.ts';
import { driftInSpreads } from '../statistics/index.ts';
import { isNoisy, type Task } from '../tasks/index.ts';
import { duration, number, percent } from './table.ts';

/** Spreads between a measured and the declared mean that deserve a caveat. */
const maxSpreads = 3;
/** Of wall time to processor time: of a script that only computes it is 1 or less. */
const busyRatio = 1.5;
/** With fewer seeds, a spread is hardly known. */
const fewSeeds = 3;
/** Of a call that is timed, in seconds: somewhat beyond what the guide advises. */
const [shortCall, longCall] = [0.05, 2];

export const nameOf = {
  starter: 'starter',
  constant: 'trivial predictor',
  solution: 'reference solution',
} as const satisfies Record<Measurement['what'], string>;

export interface MeasuredHere {
  task: Task;
  measurement: Measurement;
  /** As task.yaml had it before; null if it was not measured then. */
  declaredMean: number | null;
  /** The command that writes these figures; null if it has just been run. */
  toWrite: string | null;
  /** A script that waits for one is not kept from the processor by others. */
  usesGpu: boolean;
}

/** The distance of the mean from the declared one in spreads; null if it is infinite, or there was none. */
export function spreadsAway({ task, measurement, declaredMean }: MeasuredHere): number | null {
  if (declaredMean === null) return null;
  const drift = driftInSpreads(declaredFigures(task, measurement, declaredMean), measurement);
  return Number.isFinite(drift) ? drift : null;
}

/** What a person should know of measured figures beyond their values. */
export function figureCaveats(measured: MeasuredHere): string[] {
  const { task, measurement } = measured;
  return [
    driftCaveat(measured),
    seedsCaveat(measured),
    noiseCaveat(measured),
    chanceCaveat(task, measurement),
    timingCaveat(task, measurement),
    busyCaveat(measured),
  ].flatMap((caveat) => caveat ?? []);
}

function driftCaveat(measured: MeasuredHere): string | null {
  const { task, measurement, declaredMean, toWrite } = measured;
  if (declaredMean === null) return null;
  const drift = driftInSpreads(declaredFigures(task, measurement, declaredMean), measurement);
  if (drift <= maxSpreads) return null;
  const spreads = spreadsAway(measured);
  const far = spreads === null ? 'and neither varies' : `${number(spreads)} spreads away`;
  const field = `${partOf(measurement)}.mean: ${declaredMean}`;
  return toWrite === null
    ? `task.yaml said ${field}; it now has the measured ${number(measurement.mean)}.`
    : `The ${nameOf[measurement.what]} no longer scores what task.yaml says (${field}); measured was ` +
        `${number(measurement.mean)}, ${far}. ` +
        `If it was changed on purpose: ${toWrite}`;
}

function seedsCaveat({ measurement: { seeds, spread }, toWrite }: MeasuredHere): string | null {
  const isSameTwice = seeds > 1 && spread === 0;
  if (toWrite !== null || seeds >= fewSeeds || isSameTwice) return null;
  const known = seeds === 1 ? 'One seed shows no spread' : 'Two seeds hardly show the spread';
  return `${known}, by which runs are judged: measure and write it over more (default: 5).`;
}

function noiseCaveat({ task: { file }, measurement }: MeasuredHere): string | null {
  const { threshold } = file.success;
  const isBaseline = partOf(measurement) === 'baseline';
  if (!isBaseline || file.baseline.remedy !== undefined || !isNoisy(measurement, threshold)) return null;
  const [spread, mean] = [measurement.spread, measurement.mean].map(number);
  return (
    `The spread (${spread}) is more than the success threshold (${percent(threshold)} of the mean, ${mean}): noise alone ` +
    'would count as a success, and other commands refuse the task. Make the starter less noisy or use more test rows. ' +
    'If the score is a time, measure again on a quiet machine; if it stays noisy, state in baseline.remedy how the ' +
    'grader keeps noise from deciding.'
  );
}

function chanceCaveat({ file }: Task, { what, mean, spread }: Measurement): string | null {
  const { chance, direction } = file.metric;
  if (chance === undefined || what !== 'starter') return null;
  const gain = direction === 'maximize' ? mean - chance : chance - mean;
  if (gain > maxSpreads * spread) return null;
  return (
    `The starter scores ${number(mean)} ± ${number(spread)}, no better than guessing (metric.chance: ${number(chance)}). ` +
    'If that is not meant, look for a mistake in it, or make the data easier.'
  );
}

/** Where the grader times calls of submitted code; an error in predicted seconds is no time. */
function timingCaveat({ file }: Task, { what, mean }: Measurement): string | null {
  const { name, unit } = file.metric;
  const isTimed = file.grading.runs_submission && unit === 'seconds' && /\b(run)?time\b/i.test(name);
  if (!isTimed || what !== 'starter' || (mean >= shortCall && mean <= longCall)) return null;
  const [why, inputs] =
    mean < shortCall
      ? ['of which sending its inputs is a part that no submission can save', 'larger']
      : ['and each grading makes several', 'smaller'];
  return `A call of the starter takes ${number(mean)} s, ${why}. Choose ${inputs} inputs: 0.1 to 1 s are best.`;
}

/**
 * The means of a script's wall and processor time in seconds, if it had a processor for two thirds of its time or less:
 * it was kept from it, or waits by itself. Otherwise null.
 */
function keptWaiting({ runs }: Measurement): { wall: number; processor: number } | null {
  const known = runs.flatMap(({ seconds, cpuSeconds }) =>
    cpuSeconds === null ? [] : [{ seconds, cpuSeconds }],
  );
  const meanOf = (of: 'seconds' | 'cpuSeconds') =>
    known.reduce((sum, run) => sum + run[of], 0) / Math.max(known.length, 1);
  const [wall, processor] = [meanOf('seconds'), meanOf('cpuSeconds')];
  return wall <= 1 || wall <= busyRatio * processor ? null : { wall, processor };
}

/** How long a script takes where nothing keeps it from the processor, in seconds: what task.yaml should say. */
export function secondsAlone({
  measurement,
  usesGpu,
}: Pick<MeasuredHere, 'measurement' | 'usesGpu'>): number {
  return (usesGpu ? null : keptWaiting(measurement))?.processor ?? measurement.seconds;
}

function busyCaveat({ task, measurement, usesGpu }: MeasuredHere): string | null {
  const times = usesGpu ? null : keptWaiting(measurement);
  if (times === null) return null;
  const [wall, processor] = [times.wall, times.processor].map(duration);
  return (
    `The script took ${wall}, and the processor only ${processor} of these: other programs were busy, so the figures say ` +
    `${processor}. If it waits by itself, write ${Math.round(times.wall)} as its seconds, as limits and agents go by them.` +
    (task.file.grading.runs_submission
      ? ' The grader ran the submission beside them, too: if the score is a time, measure again when nothing else runs.'
      : '')
  );
}

function declaredFigures({ file }: Task, measurement: Measurement, mean: number) {
  return { mean, spread: file[partOf(measurement)].spread };
}

export function partOf({ what }: Pick<Measurement, 'what'>): 'baseline' | 'reference' {
  return what === 'solution' ? 'reference' : 'baseline';
}
