import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { GraderResult, Problem, SnapshotEntry } from '../schema/index.ts';
import type { ObjectStore } from '../store/index.ts';
import type { Task } from '../tasks/index.ts';
import { type GraderOptions, runGrader } from './grader-process.ts';

/** A workspace as its entries, whose contents lie in a store. */
export interface StoredWorkspace {
  entries: readonly SnapshotEntry[];
  objects: ObjectStore;
}

/**
 * Lays the submissions out in a scratch folder, only their declared files, and runs the grader over them.
 * @param workspaces by the name that the grader knows each submission by
 */
export async function gradeSubmissions(
  workspaces: ReadonlyMap<string, StoredWorkspace>,
  options: GraderOptions,
): Promise<GraderResult[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'mlab-grade-'));
  try {
    const submissions = join(scratch, 'submissions');
    for (const [name, { entries, objects }] of workspaces) {
      for (const { path } of options.task.file.submission.files) {
        const entry = entries.find((candidate) => candidate.path === path);
        if (entry === undefined || !('object' in entry)) continue;
        const target = join(submissions, name, path);
        mkdirSync(dirname(target), { recursive: true });
        await objects.copyTo(entry.object, target);
      }
    }
    return await runGrader(options, submissions, [...workspaces.keys()], scratch);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Why a submission is larger than the task takes; null where it is not. */
export function sizeProblem(entries: readonly SnapshotEntry[], { file }: Task): Problem | null {
  const { files, max_mb } = file.submission;
  const paths = new Set<string>(files.map(({ path }) => path));
  const bytes = entries.reduce(
    (sum, entry) => sum + ('size' in entry && paths.has(entry.path) ? entry.size : 0),
    0,
  );
  if (bytes <= max_mb * 2 ** 20) return null;
  return {
    code: 'too_large',
    message: `The submission has ${bytes} bytes; at most ${max_mb} MiB are accepted.`,
  };
}

/** Which declared files are not there, or are none. */
export function missingFiles(entries: readonly SnapshotEntry[], { file }: Task): Problem[] {
  return file.submission.files.flatMap(({ path }): Problem[] => {
    const entry = entries.find((candidate) => candidate.path === path);
    if (entry === undefined) return [{ code: 'missing_file', message: `${path} is missing.` }];
    if ('object' in entry) return [];
    return [
      { code: 'not_a_file', message: `${path} is a ${'link' in entry ? 'link' : 'folder'}, not a file.` },
    ];
  });
}
