import { existsSync } from 'node:fs';
import { basename, dirname, join, matchesGlob, relative, resolve } from 'node:path';
import { hasCode, messageOf, UserError } from '../lib/errors.ts';
import { nearest } from '../lib/nearest.ts';
import type { BranchPlan } from '../schema/index.ts';
import {
  type Experiment,
  listExperiments,
  misnamedExperiments,
  openExperiment,
  type RunFolder,
} from '../store/index.ts';
import type { Context } from './context.ts';
import { oneLine, plain } from './table.ts';
import type { VerbArgument } from './verb.ts';

/** A run, or one step of it, that a person named. */
export interface LocatedRun {
  experiment: Experiment;
  folder: RunFolder;
  /** From RUN@STEP: a number, or `last`; null for the whole run. */
  step: string | null;
  /** The target names the run itself, not its experiment or a pattern. */
  isNamed: boolean;
}

/** For commands that work on many runs. Every command reads targets by the rule in docs/command-line.md. */
export const runsArgument: VerbArgument = {
  name: '<runs...>',
  description: 'experiments, runs (EXPERIMENT/RUN), or patterns such as start-*/digits-*',
};

/** For commands that can also be about one step. */
export const stepArgument: VerbArgument = {
  name: '<run>',
  description: 'a run (EXPERIMENT/RUN), or one of its steps (EXPERIMENT/RUN@STEP)',
};

interface LocateOptions {
  /** Also the branches that people began from these runs. */
  withBranches?: boolean;
  /** The command supports single steps. */
  withSteps?: boolean;
  /** Experiments that a newer mlab planned are left out, as with patterns, unless no other was given. */
  leavesOutNewer?: boolean;
}

/**
 * The runs that targets stand for, each once: those of an experiment, one run, or all that match a pattern.
 * @throws UserError `not_there`, `ambiguous_run`, `no_step`, and as `openExperiment`
 */
export function locateRuns(
  context: Context,
  given: readonly string[],
  options: LocateOptions = {},
): LocatedRun[] {
  let newer: unknown = null;
  const found = given.flatMap((target) => {
    try {
      return runsOfTarget(context, target, options);
    } catch (error) {
      if (options.leavesOutNewer !== true || !hasCode(error, 'future_version')) throw error;
      newer = error;
      context.log(`${target} is left out: ${messageOf(error)}`);
      return [];
    }
  });
  if (found.length === 0 && newer !== null) throw newer;
  return [...new Map(found.map((run) => [`${run.folder.folder}@${run.step}`, run])).values()];
}

/** The one run that a target stands for. @throws as `locateRuns` */
export function locateRun(context: Context, given: string, options: LocateOptions = {}): LocatedRun {
  const [first, ...more] = runsOfTarget(context, given, options);
  if (first === undefined) throw notThere(context, given);
  if (more.length === 0) return first;
  throw new UserError(
    'ambiguous_run',
    `"${given}" matches ${more.length + 1} runs, but this command takes only one.`,
    `Name one of them, such as ${pathOf(first)}.`,
  );
}

/** The experiments that names, folders and patterns stand for, each once. @throws UserError `not_there` */
export function locateExperiments(context: Context, given: readonly string[]): Experiment[] {
  const folders = given.flatMap((target) => {
    if (isPattern(target)) return matchingExperiments(context, target);
    const folder = experimentFolder(context, target);
    if (folder === null) throw notThere(context, target, 'experiment');
    return [folder];
  });
  return [...new Set(folders)].map((folder) => openExperiment(folder));
}

/**
 * Refuses a single run, for commands that take whole experiments.
 * @param done what the command does to them: `deleted`
 */
export function refuseRun(context: Context, name: string, done: string): void {
  if (experimentFolder(context, name) !== null || !name.includes('/')) return;
  throw new UserError(
    'bad_argument',
    `${oneLine(name, 200)} is not an experiment.`,
    `Only whole experiments can be ${done}. To rerun runs, see mlab runs retry --help.`,
  );
}

/**
 * The folder of an experiment with this name in the experiments folder, or of one at this path; null if there is none.
 */
export function experimentFolder({ folders }: Context, name: string): string | null {
  const candidates = [resolve(folders.experiments, name), resolve(name)];
  return candidates.find((folder) => existsSync(join(folder, 'plan.json'))) ?? null;
}

export function isPattern(name: string): boolean {
  return /[*?[{]/.test(name);
}

/** A path pattern as a name pattern: `experiments/start-*` means `start-*`. */
export function patternOfNames({ folders }: Context, pattern: string): string {
  const path = relative(folders.experiments, resolve(pattern));
  return path.startsWith('..') ? pattern : path;
}

function runsOfTarget(context: Context, given: string, options: LocateOptions): LocatedRun[] {
  const [target, step] = splitStep(given);
  if (step !== null && options.withSteps !== true)
    throw new UserError('no_step', `"${given}" is a step; this command takes whole runs.`, `Use ${target}.`);
  const located = (experiment: Experiment, ids: readonly string[], isNamed: boolean) =>
    ids.map((id): LocatedRun => ({ experiment, folder: experiment.runFolder(id), step, isNamed }));
  const alsoBranches = (experiment: Experiment, ids: readonly string[]) => {
    if (options.withBranches !== true || step !== null) return ids;
    const { branches } = experiment;
    return branches.length === 0
      ? ids
      : [...ids, ...ids.flatMap((id) => branchesOfRun({ branches }, id).map(({ run }) => run.id))];
  };
  if (isPattern(target)) {
    return matchingRuns(context, target).flatMap(({ experiment, ids }) =>
      located(experiment, alsoBranches(experiment, ids), false),
    );
  }
  const whole = experimentFolder(context, target);
  if (whole !== null) {
    const experiment = openExperiment(whole);
    return located(experiment, alsoBranches(experiment, experiment.runIds), false);
  }
  const { experiment, id } = runCalled(context, target);
  return located(experiment, alsoBranches(experiment, [id]), true);
}

/** Splits `RUN@STEP`, unless that is the path of something. */
function splitStep(given: string): [target: string, step: string | null] {
  const [, target, step] = /^(.+)@(\d+|last)$/.exec(given) ?? [];
  return target === undefined || step === undefined || existsSync(given) ? [given, null] : [target, step];
}

/** A run given as `EXPERIMENT/RUN`, by the path of its folder, or by its id alone if only one experiment has it. */
function runCalled(context: Context, given: string): { experiment: Experiment; id: string } {
  const path = resolve(given);
  if (existsSync(join(path, 'run.json'))) {
    return { experiment: openExperiment(dirname(dirname(path))), id: basename(path) };
  }
  if (given.includes('/')) {
    const folder = experimentFolder(context, dirname(given));
    const experiment = folder === null ? null : openExperiment(folder);
    const id = basename(given);
    if (experiment === null || experiment.specOf(id) === null) throw notThere(context, given);
    return { experiment, id };
  }
  const holders = readableExperiments(context).filter((experiment) => experiment.specOf(given) !== null);
  const [experiment, another] = holders;
  if (experiment === undefined) throw notThere(context, given);
  if (another === undefined) return { experiment, id: given };
  const names = holders.map(({ name }) => `${name}/${given}`).join(', ');
  throw new UserError('ambiguous_run', `Several experiments have a run "${given}".`, `Name one: ${names}.`);
}

/** `start-*`: all runs of the experiments that match; `start-*\/digits-*`: the matching runs. */
function matchingRuns(context: Context, given: string): { experiment: Experiment; ids: readonly string[] }[] {
  const pattern = patternOfNames(context, given).replace(/\/runs\//, '/');
  const found = readableExperiments(context).map((experiment) => {
    const { name, runIds } = experiment;
    const isWhole = matchesGlob(name, pattern);
    return {
      experiment,
      ids: isWhole ? runIds : runIds.filter((id) => matchesGlob(`${name}/${id}`, pattern)),
    };
  });
  const matching = found.filter(({ ids }) => ids.length > 0);
  if (matching.length === 0) throw notThere(context, given);
  return matching;
}

function matchingExperiments(context: Context, given: string): string[] {
  const pattern = patternOfNames(context, given);
  const matching = namedExperiments(context).filter(({ name }) => matchesGlob(name, pattern));
  if (matching.length === 0) throw notThere(context, given, 'experiment');
  return matching.map(({ folder }) => folder);
}

/** As `listExperiments`; logs which folders are left out for their names. */
export function namedExperiments({ folders, log }: Context): ReturnType<typeof listExperiments> {
  for (const name of misnamedExperiments(folders.experiments))
    log(`left out: "${plain(name)}" is no name of an experiment: rename the folder`);
  return listExperiments(folders.experiments);
}

/** Every experiment that can be read; logs what is wrong with the others. */
export function readableExperiments(context: Context): Experiment[] {
  return namedExperiments(context).flatMap(({ name, folder }) => {
    try {
      return [openExperiment(folder)];
    } catch (error) {
      context.log(`${name} is left out: ${messageOf(error)}`);
      return [];
    }
  });
}

/** What was looked for and where, with the most similar name. */
export function notThere(
  context: Context,
  given: string,
  what: 'experiment or run' | 'experiment' = 'experiment or run',
): UserError {
  const { experiments: folder } = context.folders;
  const experiments = readableExperiments({ ...context, log: () => {} });
  const names = experiments.map(({ name }) => name);
  const paths = what === 'experiment' ? [] : experiments.flatMap(pathsOf);
  const message = isPattern(given)
    ? `No ${what} in ${folder} matches "${given}".`
    : `There is no ${what} "${given}" in ${folder}.`;
  return new UserError('not_there', message, hintFor(context, given, names, paths));
}

function hintFor(
  { placeFlags }: Context,
  given: string,
  names: readonly string[],
  paths: readonly string[],
): string {
  if (names.length === 0) return 'There are no experiments there; --dir names another folder.';
  const ids = paths.map((path) => basename(path));
  const candidates = given.includes('/') ? paths : [...names, ...ids];
  const meant = isPattern(given) ? null : nearest(given, [...new Set(candidates)]);
  const path = paths.find((each) => basename(each) === meant) ?? meant;
  if (path !== null) return `Did you mean "${path}"?`;
  const shown = names.slice(0, maxNamed).join(', ');
  const more = names.length > maxNamed ? ', …' : '';
  return `The experiments there are ${shown}${more}; mlab runs ls${placeFlags} lists their runs.`;
}

const maxNamed = 8;

function pathsOf(experiment: Experiment): string[] {
  const branches = experiment.readableBranches().map(({ run }) => run.id);
  return [...experiment.runIds, ...branches].map((id) => `${experiment.name}/${id}`);
}

function pathOf({ experiment, folder }: LocatedRun): string {
  return `${experiment.name}/${folder.id}`;
}

/** The branches that people began from a run, and the branches of those. */
export function branchesOfRun({ branches }: Pick<Experiment, 'branches'>, run: string): BranchPlan[] {
  const found = new Set([run]);
  // A branch is begun after the run that it comes from, so one pass finds all.
  return branches.filter(({ run: { id, parent } }) => found.has(parent.run) && found.add(id));
}
