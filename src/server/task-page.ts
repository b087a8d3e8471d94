import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  defaultLimits,
  Limits,
  type RunEvaluation,
  type ShownText,
  type TaskId,
  type TaskPage,
} from '../schema/index.ts';
import { buildRuns } from '../statistics/index.ts';
import type { RunFolder } from '../store/index.ts';
import { findTasks, type Task } from '../tasks/index.ts';
import type { ExperimentPlace, KnownExperiment } from './catalogue/known-experiment.ts';
import { yielder } from './yielder.ts';

const maxShownBytes = 200_000;
const maxFiles = 300;
const maxResults = 300;

/** The task that is installed with this id; null if there is none. */
export function findTask(id: string, folders: readonly string[]): Task | null {
  return findTasks(folders).tasks.find(({ file }) => file.id === id) ?? null;
}

export function taskPart({ file }: Task): TaskPage['task'] {
  const { title, category, modality, summary, suites, problem, entry, metric, baseline, reference } = file;
  return {
    ...{ title, category, modality, summary, suites, problem, entry, metric, baseline, reference },
    ...{ threshold: file.success.threshold, submission: file.submission, read_only: file.read_only },
    limits: Limits.parse({ ...defaultLimits, ...file.limits }),
    published: file.paper,
  };
}

/** The files of the starter, without links. */
export function starterFiles({ environmentFolder }: Task): TaskPage['starter'] {
  return readdirSync(environmentFolder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .slice(0, maxFiles)
    .map((path) => {
      const { size } = statSync(path);
      return { path: path.slice(environmentFolder.length + 1), size, text: textOf(path, size) };
    });
}

function textOf(path: string, size: number): ShownText | null {
  if (size > maxShownBytes) return null;
  const text = readFileSync(path, 'utf8');
  return text.includes('\0') || text.includes('\ufffd') ? null : { text, length: text.length, part: null };
}

/**
 * All known runs on a task, with the results of a few hundred.
 * @param known earlier evaluations; making the others would take too long
 */
export async function runsOn(
  task: TaskId,
  experiments: readonly KnownExperiment[],
  known: (place: ExperimentPlace, folder: RunFolder) => RunEvaluation | null,
): Promise<TaskPage['runs']> {
  const yieldTurn = yielder();
  const found: TaskPage['runs'] = [];
  for (const experiment of experiments) {
    const { place } = experiment;
    for (const line of experiment.runs.filter((one) => one.task === task)) {
      const folder = found.length < maxResults ? experiment.runFolder(line.run) : null;
      const evaluation = folder === null ? null : known(place, folder);
      const result = evaluation === null ? null : (buildRuns([evaluation])[0] ?? null);
      found.push({ experiment: place.id, line, result });
      await yieldTurn();
    }
  }
  return found;
}
