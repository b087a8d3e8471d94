import { readdirSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { performance } from 'node:perf_hooks';
import { isDeepStrictEqual } from 'node:util';
import { sha256, sha256OfFile } from '../lib/hash.ts';
import { sandboxOptions } from '../sandbox/index.ts';
import {
  type Grade,
  type GraderResult,
  isImported,
  type ObjectId,
  type RunRecord,
  type RunSpec,
  type ScoreFigures,
  type SnapshotEntry,
  type SubmissionProblem,
} from '../schema/index.ts';
import {
  currentGrades,
  type RecordedState,
  type RunFolder,
  readSnapshot,
  recordedStates,
  statesOfTree,
  submissionHash,
} from '../store/index.ts';
import type { Task } from '../tasks/index.ts';
import { unsureCaveats } from './grade-each.ts';
import type { GraderOptions } from './grader-process.ts';
import { isBesideOthers, sharedMachineCaveat, watchNeighbours } from './neighbours.ts';
import { gradeSubmissions, missingFiles, sizeProblem } from './submission-files.ts';

/** A workspace to grade. */
interface GradedState extends RecordedState {
  entries: readonly SnapshotEntry[];
  /** Hash over the submission files; null if one is missing. */
  submission: ObjectId | null;
}

/** What the grader of a run's task needs, as it was for the run. */
export function graderFor(
  spec: RunSpec,
  options: Omit<GraderOptions, 'driver' | 'sandboxOptions'> & { dockerCommand?: string | undefined },
): GraderOptions {
  const confined = sandboxOptions(spec, options.dockerCommand);
  return { ...options, driver: spec.sandbox, sandboxOptions: confined, trusted: isOfTask(spec) };
}

/** Whether a run submits what the task's own scripts write: agents outside this package can't have these names. */
function isOfTask(spec: RunSpec): boolean {
  const isBuiltIn = spec.agent_source === undefined && !isImported(spec);
  return isBuiltIn && spec.parent === undefined && ['baseline', 'oracle'].includes(spec.agent);
}

export interface GradeRunOptions extends Omit<GraderOptions, 'driver' | 'sandboxOptions'> {
  /** The container engine's command; default: docker. */
  dockerCommand?: string | undefined;
  folder: RunFolder;
  /** A number: that step of the selected branch. */
  which: 'final' | 'all' | number;
}

/**
 * Grades the final workspace of a run, or that of every recorded step of all branches, from the store alone. A run that
 * has not ended has no final workspace: `final` grades nothing of it. Each distinct submission is graded once: earlier
 * results of the same grader are reused. New grades are appended to the run's `grades.jsonl`; all are returned in the
 * order of their steps, those of branches that are not selected last.
 * @throws GraderFailed, SandboxError, UserError; then nothing was appended
 */
export async function gradeRun(options: GradeRunOptions): Promise<Grade[]> {
  const { folder, which, task } = options;
  const record = folder.readRecord();
  if (record === null) return [];
  const states = which === 'all' ? statesOfTree(folder) : recordedStates(folder);
  const wanted = states
    .filter(({ final, step }) => which === 'all' || (which === 'final' ? final : step === which))
    .map((state) => gradable(state, folder, task.file.submission.files));
  if (wanted.length === 0) return [];
  const grader = await graderVersion(options, record.spec);
  const stored = folder.readGrades().grades;
  const known = knownResults(stored.filter((grade) => grade.grader === grader));
  const resultOf = await resultsFor(wanted, known, options, record.spec);
  const grades = wanted.map((state) => gradeOf(state, resultOf(state), options, record.spec, grader));
  return await keepGrades(grades, states, record, options);
}

/** Appends the new ones among these grades; for the others, returns the earlier grades. */
async function keepGrades(
  grades: readonly Grade[],
  states: readonly RecordedState[],
  attempt: RunRecord,
  { folder, signal }: GradeRunOptions,
): Promise<Grade[]> {
  const current = () => currentGrades(folder.readGrades().grades, states);
  const before = current();
  const kept = grades.map((grade) => before.find((one) => saysTheSame(one, grade)) ?? grade);
  // If nothing is new, nothing is written.
  if (kept.every((grade) => before.includes(grade))) return kept;
  await folder.writeResults(attempt, signal ?? null, () => {
    // Another process may have graded the same in the meantime.
    const now = current();
    for (const grade of kept) if (!now.some((one) => saysTheSame(one, grade))) folder.appendGrade(grade);
  });
  return kept;
}

function gradable(
  state: RecordedState,
  { objects }: RunFolder,
  files: readonly { path: string }[],
): GradedState {
  const { entries } = readSnapshot(objects, state.snapshot);
  return { ...state, entries, submission: submissionHash(entries, files) };
}

/** Compares all but the time of grading and its duration. */
function saysTheSame(one: Grade, other: Grade): boolean {
  return isDeepStrictEqual({ ...one, time: 0, seconds: 0 }, { ...other, time: 0, seconds: 0 });
}

/** The score may not be comparable with the task's figures, nor with scores of other runs. */
const changedTaskCaveat = 'graded by another version of the task';

/**
 * Hash over everything that can change a score: the grader and what it imports or reads, services, packages, hidden data,
 * metric and format.
 */
async function graderVersion(
  { task, prepared, helpersFolder }: GradeRunOptions,
  { roles }: RunSpec,
): Promise<string> {
  const { metric, submission, grading, services } = task.file;
  const hashes: string[] = [];
  for (const folder of [task.hiddenFolder, task.environmentFolder, join(helpersFolder, 'mlab_task')]) {
    for (const path of filesBelow(folder)) {
      if (folder === task.hiddenFolder && isNotOfGrader(path)) continue;
      hashes.push(`${basename(folder)}/${path} ${await sha256OfFile(join(folder, path))}`);
    }
  }
  const data = prepared.manifest.files.map(({ path, sha256: hash }) => [path, hash]);
  const model = services.some(({ kind }) => kind === 'model') ? [roles?.fast ?? null] : [];
  return sha256(JSON.stringify([metric, submission, grading, hashes, data, task.requirements, ...model]));
}

/** Of the hidden files, neither the grader and what it reads nor a service. The data covers what prepared it. */
function isNotOfGrader(path: string): boolean {
  return /^(prepare\.py$|sample\.py$|solution\/|constant\/)/.test(path);
}

/** Paths in a folder, without what Python compiled. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => !/(^|\/)__pycache__\//.test(path))
    .sort();
}

/** A result, with its duration and the other load on the machine. */
type TimedResult = GraderResult & Pick<Grade, 'seconds' | 'others_cores'>;

function knownResults(grades: readonly Grade[]): Map<string, TimedResult> {
  const known = new Map<string, TimedResult>();
  for (const { submission, valid, score, problems, details, seconds, others_cores, ...grade } of grades) {
    if (submission === null) continue;
    const others = others_cores === undefined ? {} : { others_cores };
    // The task's own mean may have been corrected since.
    const measured = grade.baseline === grade.figures?.baseline.mean ? {} : { baseline: grade.baseline };
    known.set(submission, { submission, valid, score, problems, details, seconds, ...measured, ...others });
  }
  return known;
}

async function resultsFor(
  states: readonly GradedState[],
  known: ReadonlyMap<string, TimedResult>,
  options: GradeRunOptions,
  spec: RunSpec,
): Promise<(state: GradedState) => TimedResult> {
  const results = new Map(known);
  const todo = new Map<string, GradedState>();
  for (const state of states) {
    const { submission, entries } = state;
    if (submission === null || results.has(submission)) continue;
    const tooLarge = sizeProblem(entries, options.task);
    if (tooLarge === null) todo.set(submission, state);
    else results.set(submission, rejected(submission, [tooLarge]));
  }
  if (todo.size > 0) options.folder.checkWritable();
  for (const result of await gradeTimed(todo, options, spec)) results.set(result.submission, result);
  return ({ submission, entries, skipped }) =>
    (submission === null ? undefined : results.get(submission)) ??
    rejected('', missingFiles(entries, options.task, skipped));
}

function rejected(submission: string, problems: SubmissionProblem[]): TimedResult {
  return { submission, valid: false, score: null, problems, details: {}, seconds: 0 };
}

/** The seconds are the mean over the submissions, which share one start of the grader. */
async function gradeTimed(
  todo: ReadonlyMap<string, GradedState>,
  options: GradeRunOptions,
  spec: RunSpec,
): Promise<TimedResult[]> {
  if (todo.size === 0) return [];
  const start = performance.now();
  const { objects } = options.folder;
  const workspaces = new Map([...todo].map(([name, { entries }]) => [name, { entries, objects }]));
  const { grading, metric } = options.task.file;
  const isTimed = grading.runs_submission && metric.unit === 'seconds';
  // Docker's processes are not our children: they would count as others.
  const neighbours = isTimed && spec.sandbox !== 'docker' ? watchNeighbours() : () => null;
  const results = await gradeSubmissions(workspaces, graderFor(spec, options));
  const seconds = (performance.now() - start) / 1000 / todo.size;
  const busy = neighbours();
  const others = busy === null ? {} : { others_cores: Math.round(busy * 100) / 100 };
  return results.map((result) => ({ ...result, seconds, ...others }));
}

function figuresOf({ file: { baseline, reference, metric } }: Task): NonNullable<Grade['figures']> {
  const pick = ({ mean, spread, seeds }: ScoreFigures) => ({ mean, spread, seeds });
  // One run of a starter says nothing about the next one.
  const isKnown = baseline.method !== 'starter' || baseline.seeds > 1;
  const measured = { ...pick(baseline), ...(isKnown ? {} : { spread: null }) };
  return { baseline: measured, reference: pick(reference), best: metric.best ?? null };
}

function gradeOf(
  { branch, step, final, snapshot, stale, submission }: GradedState,
  result: TimedResult,
  { task }: GradeRunOptions,
  spec: RunSpec,
  grader: string,
): Grade {
  return {
    v: 1,
    time: Date.now(),
    step,
    ...(branch === 'main' ? {} : { branch }),
    final,
    snapshot,
    submission,
    stale,
    grader,
    valid: result.valid,
    score: result.score,
    baseline: result.baseline ?? task.file.baseline.mean,
    direction: task.file.metric.direction,
    threshold: task.file.success.threshold,
    figures: figuresOf(task),
    problems: result.problems,
    details: result.details,
    seconds: result.seconds,
    ...(result.others_cores === undefined ? {} : { others_cores: result.others_cores }),
    caveats: [
      ...spec.caveats,
      ...unsureCaveats(result),
      ...(isBesideOthers(result.others_cores ?? null) ? [sharedMachineCaveat] : []),
      ...(isImported(spec) || task.version === spec.task_version ? [] : [changedTaskCaveat]),
    ],
  };
}
