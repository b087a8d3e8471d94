import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { removeTree } from '../lib/read-only-tree.ts';
import { ownedFolder } from '../sandbox/index.ts';
import type { GraderResult, SnapshotEntry, SubmissionProblem } from '../schema/index.ts';
import type { ObjectStore } from '../store/index.ts';
import type { Task } from '../tasks/index.ts';
import { gradeEach, type StarterGrading } from './grade-each.ts';
import { type GraderOptions, type GraderRun, graderSeconds, runGrader } from './grader-process.ts';
import { starterName } from './submission-worker.ts';

/** A workspace as its entries, whose contents are in a store. */
export interface StoredWorkspace {
  entries: readonly SnapshotEntry[];
  objects: ObjectStore;
}

/**
 * Lays out the submissions in a scratch folder, only their declared files, and runs the grader over them.
 * @param workspaces by the name under which the grader knows each submission
 * @throws GraderFailed, SandboxError
 */
export function gradeSubmissions(
  workspaces: ReadonlyMap<string, StoredWorkspace>,
  options: GraderOptions,
): Promise<GraderResult[]> {
  const { task } = options;
  return gradeEach([...workspaces.keys()], {
    grade: (names) =>
      gradeLaidOut(names, options, async (name, path, target) => {
        const workspace = workspaces.get(name);
        const entry = workspace?.entries.find((one) => one.path === path);
        if (entry !== undefined && 'object' in entry)
          await workspace?.objects.copyTo(entry.object, target(), options.signal);
      }),
    gradeStarter: () => gradeStarter(options),
    limitSeconds: graderSeconds(task),
    trusted: options.trusted === true,
  });
}

/** Grades the starter's files. The grader fails on them, too, if it rejects a starter that is the baseline. */
async function gradeStarter(options: GraderOptions): Promise<StarterGrading> {
  const { environmentFolder, file } = options.task;
  const sources = file.submission.files.map(({ path }) => join(environmentFolder, path));
  const { results, errors, failure } = await gradeLaidOut([starterName], options, async (_, path, target) => {
    const source = join(environmentFolder, path);
    if (existsSync(source)) copyFileSync(source, target());
  });
  const [result] = results;
  const [error] = errors;
  const scored = result?.valid === true;
  if (failure !== null) return { failure, scored };
  if (error !== undefined) {
    const message = `the grader failed on the starter: ${error.place}: ${error.error}`;
    return { failure: { message, printed: error.traceback }, scored };
  }
  if (scored || file.baseline.method !== 'starter' || !sources.every(existsSync))
    return { failure: null, scored };
  const printed = result?.problems.map(({ message }) => message).join('\n') ?? '';
  return { failure: { message: 'the grader rejects the starter, which is the baseline', printed }, scored };
}

/** @param copy copies one declared file of a submission, if it exists, to the target, whose folder exists by then */
async function gradeLaidOut(
  names: readonly string[],
  options: GraderOptions,
  copy: (name: string, path: string, target: () => string) => Promise<void>,
): Promise<GraderRun> {
  const scratch = ownedFolder('grade');
  try {
    const submissions = join(scratch, 'submissions');
    for (const name of names) {
      mkdirSync(join(submissions, name), { recursive: true });
      for (const { path } of options.task.file.submission.files) {
        await copy(name, path, () => {
          const target = join(submissions, name, path);
          mkdirSync(dirname(target), { recursive: true });
          return target;
        });
      }
    }
    return await runGrader(options, submissions, names, scratch);
  } finally {
    removeTree(scratch);
  }
}

/** Why a submission is larger than the task accepts; null if it is not. */
export function sizeProblem(entries: readonly SnapshotEntry[], { file }: Task): SubmissionProblem | null {
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

/** Why a snapshot lacks an entry that is no file. */
const kinds: Partial<Record<string, string>> = {
  ...{ pipe: 'pipe', socket: 'socket', device: 'device' },
  special: 'pipe, a socket or a device',
};

/**
 * The declared files that are missing, or are not files.
 * @param skipped what the workspace had besides the entries
 */
export function missingFiles(
  entries: readonly SnapshotEntry[],
  { file }: Task,
  skipped: readonly { path: string; reason: string }[] = [],
): SubmissionProblem[] {
  return file.submission.files.flatMap(({ path }): SubmissionProblem[] => {
    const entry = entries.find((candidate) => candidate.path === path);
    if (entry !== undefined && 'object' in entry) return [];
    const reason = skipped.find((candidate) => candidate.path === path)?.reason ?? '';
    const special = Object.hasOwn(kinds, reason) ? kinds[reason] : undefined;
    const kind = entry === undefined ? special : 'link' in entry ? 'link' : 'folder';
    if (kind === undefined) return [{ code: 'missing_file', message: `${path} is missing.` }];
    return [{ code: 'not_a_file', message: `${path} is a ${kind}, not a file.` }];
  });
}
