import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { graderFor, gradeWorkspace } from '../../grading/index.ts';
import { messageOf } from '../../lib/errors.ts';
import { removeTree } from '../../lib/read-only-tree.ts';
import type { Gpu } from '../../sandbox/index.ts';
import type { Grade, GraderResult, SnapshotEntry } from '../../schema/index.ts';
import { ObjectStore, type RunFolder, readSnapshot } from '../../store/index.ts';
import type { Task } from '../../tasks/index.ts';
import type { TaskResources } from '../workspace.ts';
import type { LeakFindings } from './leak-check.ts';
import { rowsOf, shuffleRows } from './shuffle-rows.ts';

export interface RowShuffleOptions {
  resources: TaskResources;
  helpersFolder: string;
  /** The oracle's run. */
  folder: RunFolder;
  /** Those with which it was graded first; absent: none. */
  gpus?: readonly Gpu[] | undefined;
  signal: AbortSignal;
}

/** Grades the oracle's submission again, with the rows of its tables in another order. */
export async function gradeShuffled(options: RowShuffleOptions): Promise<LeakFindings> {
  const { resources, helpersFolder, folder, gpus, signal } = options;
  const { task } = resources;
  const tables = idColumns(task);
  if (tables.size === 0) return notRun('the submission has no file of the format csv');
  if (task.file.grading.runs_submission) {
    return notRun('the grader runs submitted code, which may score differently each time');
  }
  const grade = folder.readGrades().grades.findLast(({ final }) => final);
  const spec = folder.readRecord()?.spec;
  if (spec === undefined || grade?.valid !== true) return notRun('the oracle made no valid submission');
  const scratch = mkdtempSync(join(tmpdir(), 'mlab-shuffled-'));
  try {
    const objects = new ObjectStore(scratch);
    const entries = await shuffledEntries(grade, options, objects);
    if (entries === null) return notRun('no table of the submission has more than one row');
    const grader = graderFor(spec, { ...resources, helpersFolder, gpus, signal });
    const { result } = await gradeWorkspace({ entries, objects }, grader);
    return compare(grade, result, [...new Set(tables.values())]);
  } catch (error) {
    signal.throwIfAborted();
    return { faults: [`${shuffled} could not be graded: ${messageOf(error)}`], notes: [] };
  } finally {
    removeTree(scratch);
  }
}

const shuffled = "with its rows in another order, the oracle's submission";

function notRun(why: string): LeakFindings {
  return { faults: [], notes: [why], notRun: true };
}

/** The id column of each table of a submission, by its path. */
function idColumns({ file }: Task): Map<string, string> {
  return new Map(
    file.submission.files.flatMap((one) => (one.format === 'csv' ? [[one.path, one.id.column]] : [])),
  );
}

/** The submission, stored with shuffled tables; null if there is nothing to shuffle. */
async function shuffledEntries(
  grade: Grade,
  { resources: { task }, folder, signal }: RowShuffleOptions,
  objects: ObjectStore,
): Promise<SnapshotEntry[] | null> {
  const tables = idColumns(task);
  const submitted = new Set<string>(task.file.submission.files.map(({ path }) => path));
  const entries: SnapshotEntry[] = [];
  let isShuffled = false;
  for (const entry of readSnapshot(folder.objects, grade.snapshot).entries) {
    if (!('object' in entry) || !submitted.has(entry.path)) continue;
    if (!tables.has(entry.path)) {
      await objects.copyFrom(folder.objects, entry.object, signal);
      entries.push(entry);
      continue;
    }
    const text = folder.objects.getText(entry.object);
    isShuffled ||= rowsOf(text).length > 2;
    // Each in an order of its own: rows at the same place of two tables do not stay together.
    entries.push({ ...entry, object: objects.putText(shuffleRows(text, entry.path)) });
  }
  return isShuffled ? entries : null;
}

/** Sums of the same numbers in another order differ by rounding. */
const rounding = 1e-9;

function compare(before: Grade, after: GraderResult, columns: readonly string[]): LeakFindings {
  const [one, other] = [before.score ?? Number.NaN, after.score ?? Number.NaN];
  // A score near 0, such as an error of nothing, has the baseline for a scale.
  const scale = Math.max(Math.abs(one), Math.abs(other), Math.abs(before.baseline));
  if (after.valid && Math.abs(one - other) <= rounding * scale) {
    return { faults: [], notes: [`${shuffled} scores ${one}, as before`] };
  }
  const problems = after.problems.map(({ message }) => message).join('; ');
  const said = after.valid
    ? `scores ${other}, and ${one} as it was written`
    : `is not valid (${problems}), and scores ${one} as it was written`;
  const names = `the column${columns.length === 1 ? '' : 's'} ${columns.join(', ')}`;
  return {
    faults: [
      `${shuffled} ${said}. Match rows by ${names}, not by their position: in hidden/grade.py, ` +
        'submission.table.column(NAME, ids) returns values in the order of these ids. A score must not depend on ' +
        'random numbers either.',
    ],
    notes: [],
  };
}
