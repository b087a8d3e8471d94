import { join, resolve } from 'node:path';
import { chooseLessons, experiencePath, fingerprintOf, readEntries } from '../experience/index.ts';
import { UserError } from '../lib/errors.ts';
import type { ExperimentFile, Lesson, Plan } from '../schema/index.ts';
import { listExperiments, openExperiment } from '../store/index.ts';
import type { Task } from '../tasks/index.ts';
import type { Context } from './context.ts';

/** The lessons that the runs of an experiment on a task get. */
export type LessonChooser = (task: Task, experiment: string) => Lesson[];

/**
 * Chooses lessons from the store that an experiment names; undefined if it names none. A planned experiment keeps the
 * lessons that are frozen in its plan, however much the store has grown.
 * @throws UserError if the store can't be read
 */
export function lessonChooser(
  context: Context,
  { experience, same_task: sameTask }: ExperimentFile,
): LessonChooser | undefined {
  if (experience === undefined) {
    if (sameTask !== true) return undefined;
    throw new UserError('bad_flag', '--same-task needs an experience store.', 'Name one: --experience FILE');
  }
  const path = experiencePath(resolve(experience));
  return (task, experiment) => {
    const frozen = planOf(context, experiment)?.runs.find(
      (run) => run.task === task.file.id && run.experience !== undefined,
    );
    if (frozen?.experience !== undefined) return frozen.experience;
    const { entries } = readEntries(path);
    return chooseLessons(entries, { for: fingerprintOf(task), experiment, sameTask: sameTask === true });
  };
}

function planOf(context: Context, name: string): Plan | null {
  const root = context.folders.experiments;
  const isThere = listExperiments(root).some((experiment) => experiment.name === name);
  return isThere ? openExperiment(join(root, name)).plan : null;
}
