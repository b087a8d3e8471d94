import { existsSync } from 'node:fs';
import { basename, dirname, join, matchesGlob, resolve } from 'node:path';
import { messageOf, UserError } from '../lib/errors.ts';
import { nearest } from '../lib/nearest.ts';
import type { BranchPlan } from '../schema/index.ts';
import { type Experiment, listExperiments, openExperiment, type RunFolder } from '../store/index.ts';
import type { Context } from './context.ts';
import type { Argument } from './verb.ts';

/** The experiment of this name below the experiments folder, or in this folder. */
export function locateExperiment(context: Context, name: string): Experiment {
  return openExperiment(locateExperimentFolder(context, name));
}

export function locateExperimentFolder(context: Context, name: string): string {
  const candidates = [join(context.folders.experiments, name), resolve(name)];
  const folder = candidates.find((candidate) => existsSync(join(candidate, 'plan.json')));
  if (folder !== undefined) return folder;
  const known = listExperiments(context.folders.experiments).map((experiment) => experiment.name);
  const meant = nearest(name, known);
  throw new UserError(
    'no_experiment',
    `There is no experiment "${name}" in ${context.folders.experiments}.`,
    meant === null
      ? `mlab runs ls${context.placeFlags} lists what there is; --dir names another folder.`
      : `Did you mean "${meant}"?`,
  );
}

/** What commands take that do something with many runs. */
export const runsArgument: Argument = {
  name: '<runs...>',
  description: 'runs (EXPERIMENT/RUN), experiments for all their runs, or patterns: start-*/digits-*',
};

/**
 * Names of experiments and runs, with patterns replaced by what they match, each once.
 * @throws UserError `nothing_matches`
 */
export function expandNames(context: Context, given: readonly string[]): string[] {
  return [...new Set(given.flatMap((name) => (isPattern(name) ? matchesOf(context, name) : [name])))];
}

export function isPattern(name: string): boolean {
  return /[*?[{]/.test(name);
}

function matchesOf(context: Context, pattern: string): string[] {
  const names = readableExperiments(context).flatMap(({ plan, runIds }) =>
    pattern.includes('/') ? runIds.map((id) => `${plan.name}/${id}`) : [plan.name],
  );
  const matching = names.filter((name) => matchesGlob(name, pattern));
  if (matching.length > 0) return matching;
  const what = pattern.includes('/') ? 'run' : 'experiment';
  throw new UserError(
    'nothing_matches',
    `No ${what} in ${context.folders.experiments} matches ${pattern}.`,
    `mlab runs ls${context.placeFlags} lists what there is; EXPERIMENT/RUN is a run.`,
  );
}

/** Whether an experiment has this name, or lies in this folder. */
export function isExperiment({ folders }: Context, name: string): boolean {
  return [join(folders.experiments, name), resolve(name)].some((folder) =>
    existsSync(join(folder, 'plan.json')),
  );
}

/** A run given as `experiment/run`, as the path of its folder, or by its id alone where only one experiment has it. */
export function locateRun(context: Context, given: string): { experiment: Experiment; folder: RunFolder } {
  const path = resolve(given);
  if (existsSync(join(path, 'run.json'))) {
    const experiment = openExperiment(dirname(dirname(path)));
    return { experiment, folder: experiment.runFolder(basename(path)) };
  }
  if (given.includes('/')) {
    const experiment = locateExperiment(context, dirname(given));
    return { experiment, folder: runOf(experiment, basename(given)) };
  }
  const experiments = readableExperiments(context);
  const holders = experiments.filter((experiment) => experiment.specOf(given) !== null);
  const [experiment, another] = holders;
  if (experiment === undefined) throw noRun(given, experiments, context);
  if (another === undefined) return { experiment, folder: experiment.runFolder(given) };
  const names = holders.map(({ plan }) => `${plan.name}/${given}`).join(', ');
  throw new UserError('ambiguous_run', `Several experiments have a run "${given}".`, `Say which: ${names}.`);
}

/** Every experiment that can be read; what is wrong with the others is logged. */
export function readableExperiments(context: Context): Experiment[] {
  return listExperiments(context.folders.experiments).flatMap(({ name, folder }) => {
    try {
      return [openExperiment(folder)];
    } catch (error) {
      context.log(`${name} is left out: ${messageOf(error)}`);
      return [];
    }
  });
}

function runOf(experiment: Experiment, id: string): RunFolder {
  if (experiment.specOf(id) !== null) return experiment.runFolder(id);
  const { name } = experiment.plan;
  const meant = nearest(id, [...experiment.runIds, ...experiment.branches.map(({ run }) => run.id)]);
  const hint = meant === null ? `mlab runs ls ${name} lists them.` : `Did you mean "${name}/${meant}"?`;
  throw new UserError('unknown_run', `The experiment ${name} has no run "${id}".`, hint);
}

function noRun(given: string, experiments: readonly Experiment[], context: Context): UserError {
  const named = experiments.find(({ plan }) => plan.name === given);
  const [first] = named?.runIds ?? [];
  const paths = experiments.flatMap(({ plan, runIds }) =>
    runIds.map((id) => ({ id, path: `${plan.name}/${id}` })),
  );
  const names = experiments.map(({ plan }) => plan.name);
  const meant = nearest(given, [...new Set([...names, ...paths.map(({ id }) => id)])]);
  const path = paths.find(({ id }) => id === meant)?.path ?? meant;
  const hint =
    first !== undefined
      ? `"${given}" is an experiment; a run of it is ${given}/${first}.`
      : path !== null
        ? `Did you mean "${path}"?`
        : `mlab runs ls${context.placeFlags} lists them; a run is EXPERIMENT/RUN.`;
  return new UserError(
    'unknown_run',
    `There is no experiment and no run "${given}" in ${context.folders.experiments}.`,
    hint,
  );
}

/** All runs of an experiment, or the one that is named. @param withBranches also the branches of these that people began */
export function locateRuns(
  context: Context,
  given: string,
  { withBranches = false } = {},
): { experiment: Experiment; folders: RunFolder[] } {
  if (!isExperiment(context, given)) {
    const { experiment, folder } = locateRun(context, given);
    const branches = withBranches ? branchesOfRun(experiment, folder.id) : [];
    return { experiment, folders: [folder, ...branches.map(({ run }) => experiment.runFolder(run.id))] };
  }
  const experiment = locateExperiment(context, given);
  const branches = withBranches ? experiment.branches.map(({ run }) => run.id) : [];
  return { experiment, folders: [...experiment.runIds, ...branches].map((id) => experiment.runFolder(id)) };
}

/** The branches of a run that people began, and theirs. */
export function branchesOfRun({ branches }: Experiment, run: string): BranchPlan[] {
  const found = new Set([run]);
  // One was there before its branches were begun.
  return branches.filter(({ run: { id, parent } }) => found.has(parent.run) && found.add(id));
}
