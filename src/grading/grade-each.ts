import { performance } from 'node:perf_hooks';
import type { GraderResult } from '../schema/index.ts';
import { GraderFailed, type GraderFailure, type GraderRun } from './grader-process.ts';

export interface Graders {
  /** One start of the grader over these submissions. */
  grade: (names: readonly string[]) => Promise<GraderRun>;
  /** One start over the task's own files, which can't make it fail. */
  gradeStarter: () => Promise<GraderRun>;
  /** The time limit for one submission, after which the grader has timed out. */
  limitSeconds: number;
}

/** If the starter takes less than this share of the limit, the machine is not why a submission took all of it. */
const quickShare = 0.25;

/**
 * Gets a result for every submission. If the grader fails on one, that submission is graded again alone; if the grader
 * fails again, but not on the starter, the failure is the submission's result. The others are graded without it. A
 * submission that used all its time as the first of its start is not tried again if the starter is fast now.
 * @throws GraderFailed if the grader fails whatever it gets
 */
export async function gradeEach(names: readonly string[], graders: Graders): Promise<GraderResult[]> {
  const found = new Map<string, GraderResult>();
  for (let left = names; left.length > 0; left = names.filter((name) => !found.has(name))) {
    const { results, failure } = await graders.grade(left);
    for (const result of results) found.set(result.submission, result);
    if (failure === null) break;
    if (failure.submission !== null) {
      const result = results.length === 0 ? await judgedByStarter(failure, graders) : null;
      found.set(failure.submission, result ?? (await gradeAlone(failure.submission, graders)));
    } else if (results.length === 0) throw failed(failure);
  }
  return [...found.values()];
}

/** Null if another try may end differently. */
async function judgedByStarter(
  { submission, code, message }: GraderFailure,
  { gradeStarter, limitSeconds }: Graders,
): Promise<GraderResult | null> {
  if (submission === null || code !== 'timed_out') return null;
  const start = performance.now();
  const { failure } = await gradeStarter();
  const seconds = (performance.now() - start) / 1000;
  if (failure !== null || seconds > quickShare * limitSeconds) return null;
  return failedOn(submission, code, `${message} (the starter took ${seconds.toFixed(1)} s right after it)`);
}

async function gradeAlone(name: string, graders: Graders): Promise<GraderResult> {
  const { results, failure } = await graders.grade([name]);
  const [result] = results;
  if (result !== undefined) return result;
  if (failure === null) throw new Error('the grader gave no result');
  const onStarter = failure.submission === null ? failure : (await graders.gradeStarter()).failure;
  if (onStarter !== null) throw failed(onStarter);
  return failedOn(
    name,
    failure.code,
    `${failure.message} (also when it graded this submission on its own; it does not fail on the starter)`,
  );
}

function failedOn(submission: string, code: GraderFailure['code'], message: string): GraderResult {
  return { submission, valid: false, score: null, problems: [{ code, message }], details: {} };
}

function failed({ message, printed }: GraderFailure): GraderFailed {
  return new GraderFailed(`No submission can be graded: ${message}:\n${printed}`);
}
