import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { UserError } from '../lib/errors.ts';
import { nearest } from '../lib/nearest.ts';
import { type Experiment, listExperiments, openExperiment, type RunFolder } from '../store/index.ts';
import type { Context } from './context.ts';

/** The experiment of this name below the experiments folder, or in this folder. */
export function locateExperiment(context: Context, name: string): Experiment {
  const candidates = [join(context.folders.experiments, name), resolve(name)];
  const folder = candidates.find((candidate) => existsSync(join(candidate, 'plan.json')));
  if (folder !== undefined) return openExperiment(folder);
  const known = listExperiments(context.folders.experiments).map((experiment) => experiment.name);
  const meant = nearest(name, known);
  throw new UserError(
    'no_experiment',
    `There is no experiment "${name}" in ${context.folders.experiments}.`,
    meant === null
      ? 'mlab runs ls lists what there is; --dir names another folder.'
      : `Did you mean "${meant}"?`,
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
    return { experiment, folder: experiment.runFolder(basename(given)) };
  }
  const holders = listExperiments(context.folders.experiments)
    .map(({ folder }) => openExperiment(folder))
    .filter((experiment) => experiment.runIds.some((id) => id === given));
  const [experiment, another] = holders;
  if (experiment === undefined) {
    throw new UserError(
      'unknown_run',
      `There is no run "${given}".`,
      'mlab runs ls lists them; a run is EXPERIMENT/RUN.',
    );
  }
  if (another === undefined) return { experiment, folder: experiment.runFolder(given) };
  const names = holders.map(({ plan }) => `${plan.name}/${given}`).join(', ');
  throw new UserError('ambiguous_run', `Several experiments have a run "${given}".`, `Say which: ${names}.`);
}

/** All runs of an experiment, or the one that is named. */
export function locateRuns(
  context: Context,
  given: string,
): { experiment: Experiment; folders: RunFolder[] } {
  const isExperiment = [join(context.folders.experiments, given), resolve(given)].some((folder) =>
    existsSync(join(folder, 'plan.json')),
  );
  if (!isExperiment) {
    const { experiment, folder } = locateRun(context, given);
    return { experiment, folders: [folder] };
  }
  const experiment = locateExperiment(context, given);
  return { experiment, folders: experiment.runIds.map((id) => experiment.runFolder(id)) };
}
