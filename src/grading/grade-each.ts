import type { GraderResult } from '../schema/index.ts';
import { GraderFailed, type GraderFailure, type GraderRun } from './grader-process.ts';

export interface Graders {
  /** One start of the grader over these submissions. */
  grade: (names: readonly string[]) => Promise<GraderRun>;
  /** One start over the task's own files, which can't be why it fails. */
  gradeStarter: () => Promise<GraderRun>;
}

/**
 * Gets a result for every submission. One that the grader fails on is graded again on its own; where the grader fails
 * again, and not on the starter, that is the submission's result. The others are graded without it.
 * @throws GraderFailed when the grader fails whatever it is given
 */
export async function gradeEach(names: readonly string[], graders: Graders): Promise<GraderResult[]> {
  const found = new Map<string, GraderResult>();
  for (let left = names; left.length > 0; left = names.filter((name) => !found.has(name))) {
    const { results, failure } = await graders.grade(left);
    for (const result of results) found.set(result.submission, result);
    if (failure === null) break;
    if (failure.submission !== null)
      found.set(failure.submission, await gradeAlone(failure.submission, graders));
    else if (results.length === 0) throw failed(failure);
  }
  return [...found.values()];
}

async function gradeAlone(name: string, graders: Graders): Promise<GraderResult> {
  const { results, failure } = await graders.grade([name]);
  const [result] = results;
  if (result !== undefined) return result;
  if (failure === null) throw new Error('the grader gave no result');
  const onStarter = failure.submission === null ? failure : (await graders.gradeStarter()).failure;
  if (onStarter !== null) throw failed(onStarter);
  const message = `${failure.message} (also when it graded this submission on its own; it does not fail on the starter)`;
  const problems = [{ code: failure.code, message }];
  return { submission: name, valid: false, score: null, problems, details: {} };
}

function failed({ message, printed }: GraderFailure): GraderFailed {
  return new GraderFailed(`No submission can be graded: ${message}:\n${printed}`);
}
