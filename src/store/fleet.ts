import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { hasCode, UserError } from '../lib/errors.ts';
import { deepestStored, isShallow } from '../lib/shallow-json.ts';
import { ExperimentName, Plan, RunId } from '../schema/index.ts';
import { parseStored, readTextIfThere } from './documents.ts';
import { Experiment, experimentNameOf, openExperiment, recordedExecutor } from './experiment.ts';
import { type UnqueuedRuns, unqueuedRuns } from './unqueued.ts';

/** What an experiment's folder says of runs that have not ended. */
export interface RunQueue {
  /** The executor that last got its jobs; null: unknown. */
  executor: string | null;
  /** Runs that are in no queue any more. */
  unqueued: UnqueuedRuns;
}

/** @param experiment its folder */
export function queueOf(experiment: string): RunQueue {
  return { executor: recordedExecutor(experiment), unqueued: unqueuedRuns(experiment) };
}

/** An experiment that may have thousands of runs, most of which have not begun. */
export interface Fleet extends RunQueue {
  /** As `Experiment.name`. */
  name: ExperimentName;
  /** In the plan. */
  plannedName: ExperimentName;
  folder: string;
  /** Runs without a folder, in the order of the plan. */
  queued: RunId[];
  /** The experiment with only the runs that have a folder; null if none has. */
  begun: Experiment | null;
}

/** The part of a plan that is read if its runs have not begun. */
const Outline = z.object({ name: ExperimentName, runs: z.array(z.object({ id: RunId })) });
/** Twice as fast for thousands of runs. It is compiled on first use, since other commands do not need it. */
let compiledOutline: typeof Outline | undefined;
const Whole = z.looseObject({ runs: z.array(z.unknown()) });

/**
 * Opens an experiment without validating the plan of runs that have not begun: those without a folder.
 * @throws UserError as `openExperiment`
 */
export function openFleet(folder: string): Fleet {
  const absolute = resolve(folder);
  const path = join(absolute, 'plan.json');
  const text = readTextIfThere(path) ?? '';
  const value = parsedJson(text);
  compiledOutline ??= z.compile(Outline);
  const outline = compiledOutline.safeParse(value);
  // `openExperiment` reports what is wrong with the plan.
  if (!outline.success) return fleetOf(openExperiment(absolute));
  const { name: plannedName, runs } = outline.data;
  const name = experimentNameOf(absolute, outline.data);
  const there = foldersIn(join(absolute, 'runs'));
  const queued = runs.flatMap(({ id }) => (there.has(id) ? [] : [id]));
  const common = { name, plannedName, folder: absolute, ...queueOf(absolute), queued };
  if (queued.length === runs.length) return { ...common, begun: null };
  const whole = Whole.parse(value);
  const begun = { ...whole, runs: whole.runs.filter((_, index) => there.has(runs[index]?.id ?? '')) };
  if (!isShallow(begun, deepestStored)) return fleetOf(openExperiment(absolute));
  const plan = parseStored(Plan, begun, path);
  return { ...common, begun: new Experiment(absolute, plan) };
}

function fleetOf(experiment: Experiment): Fleet {
  const { name, plan, folder } = experiment;
  return { name, plannedName: plan.name, folder, ...queueOf(folder), queued: [], begun: experiment };
}

/** However deeply it is nested: the outline is read without going into what it leaves out. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function foldersIn(folder: string): Set<string> {
  try {
    return new Set(readdirSync(folder));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return new Set();
    if (hasCode(error, 'ENOTDIR'))
      throw new UserError('broken_file', `${folder} is not a folder`, 'Restore it from a backup.');
    throw error;
  }
}
