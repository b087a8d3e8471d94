import { performance } from 'node:perf_hooks';
import type { Grade, GraderResult } from '../schema/index.ts';
import { GraderFailed, type GraderFailure, type GraderRun } from './grader-process.ts';
import type { GraderError } from './grader-protocol.ts';

export interface Graders {
  /** One start of the grader over these submissions. */
  grade: (names: readonly string[]) => Promise<GraderRun>;
  /** One start over the task's own files, which can't make it fail. */
  gradeStarter: () => Promise<StarterGrading>;
  /** The time limit for one submission, after which the grader has timed out. */
  limitSeconds: number;
  /** Whether the submissions are the task's own, so that the grader is at fault if it fails on one. */
  trusted: boolean;
}

/** What the grader says of the starter. */
export interface StarterGrading {
  /** How it failed; null if it did not. */
  failure: Pick<GraderFailure, 'message' | 'printed'> | null;
  /** Whether the starter was given a score: if not, that the grader did not fail shows little. */
  scored: boolean;
}

/** If the starter takes less than this share of the limit, the machine is not why a submission took all of it. */
const quickShare = 0.25;

/**
 * Gets a result for every submission. If the grader fails on one, that submission is graded again alone; if the grader
 * fails again, but not on the starter, the failure is the submission's result. The others are graded without it. A
 * submission that used all its time as the first of its start is not tried again if the starter is fast now. An
 * exception of the score function is the submission's result, too, unless the starter causes one. The task's own
 * submissions are never to blame.
 * @throws GraderFailed if the grader fails whatever it gets
 */
export async function gradeEach(names: readonly string[], graders: Graders): Promise<GraderResult[]> {
  const found = new Map<string, GraderResult>();
  const resultOfError = errorJudge(graders);
  for (let left = names; left.length > 0; left = names.filter((name) => !found.has(name))) {
    const { results, errors, failure } = await graders.grade(left);
    for (const result of results) found.set(result.submission, result);
    for (const error of errors) found.set(error.submission, await resultOfError(error));
    if (failure === null) break;
    const isFirst = results.length + errors.length === 0;
    if (failure.submission !== null) {
      const result = isFirst ? await judgedByStarter(failure, graders) : null;
      found.set(failure.submission, result ?? (await gradeAlone(failure.submission, graders, resultOfError)));
    } else if (isFirst) throw failed(failure);
  }
  return [...found.values()];
}

type ErrorJudge = (error: GraderError) => Promise<GraderResult>;

/**
 * A submission may provoke an exception, so only the starter shows whether the grader is at fault; it is graded once.
 * The result names the exception's type and place, and only its details, which no agent sees, have the message.
 */
function errorJudge({ gradeStarter, trusted }: Graders): ErrorJudge {
  let starter: Promise<StarterGrading> | null = null;
  return async ({ submission, kind, place, error, traceback }) => {
    const atFault = { message: `the grader failed: ${place}: ${error}`, printed: traceback };
    if (trusted) throw failed(atFault);
    starter ??= gradeStarter();
    const grading = await starter;
    if (grading.failure !== null) throw failed(atFault);
    const message = `the grader failed on this submission: ${kind} in ${place} (${besides(grading)})`;
    const result = failedOn(submission, 'crashed', message, grading);
    return { ...result, details: { ...result.details, grader_error: traceback } };
  };
}

/** The traceback of the exception that the grader raised on this submission, for the author of the task. */
export function graderErrorOf({ details }: Pick<Grade, 'details'>): string | null {
  return typeof details.grader_error === 'string' ? details.grader_error : null;
}

function besides({ scored }: StarterGrading): string {
  if (scored) return 'it does not fail on the starter';
  return "the grader itself may be at fault: it could give the starter's files no score for comparison; mlab tasks check shows whether it is";
}

/** The result may say nothing about the agent. */
export const unsureCaveat =
  'the grader may be at fault: it failed, and the starter could not be scored for comparison';

/** That of a submission on which the grader failed, if nothing shows that it works on others. */
export function unsureCaveats({ valid, details }: Pick<GraderResult, 'valid' | 'details'>): string[] {
  return !valid && details.starter_scored === false ? [unsureCaveat] : [];
}

/** Null if another try may end differently. */
async function judgedByStarter(
  { submission, code, message }: GraderFailure,
  { gradeStarter, limitSeconds, trusted }: Graders,
): Promise<GraderResult | null> {
  if (submission === null || code !== 'timed_out' || trusted) return null;
  const start = performance.now();
  const starter = await gradeStarter();
  const seconds = (performance.now() - start) / 1000;
  if (starter.failure !== null || seconds > quickShare * limitSeconds) return null;
  const compared = `${message} (the starter took ${seconds.toFixed(1)} s right after it)`;
  return failedOn(submission, code, compared, starter);
}

async function gradeAlone(name: string, graders: Graders, resultOfError: ErrorJudge): Promise<GraderResult> {
  const { results, errors, failure } = await graders.grade([name]);
  const [result] = results;
  if (result !== undefined) return result;
  const [error] = errors;
  if (error !== undefined) return await resultOfError(error);
  if (failure === null) throw new Error('the grader gave no result');
  if (graders.trusted || failure.submission === null || starterFailedBeside(failure)) throw failed(failure);
  const starter = await graders.gradeStarter();
  if (starter.failure !== null) throw failed(starter.failure);
  return failedOn(
    name,
    failure.code,
    `${failure.message} (also when it graded this submission on its own; ${besides(starter)})`,
    starter,
  );
}

/** Graders that time submission and starter in turn say which of them failed; a submission can't make the starter fail. */
function starterFailedBeside({ printed }: GraderFailure): boolean {
  return printed.trim().split('\n').at(-1)?.startsWith('the starter failed') === true;
}

function failedOn(
  submission: string,
  code: GraderFailure['code'],
  message: string,
  { scored }: StarterGrading,
): GraderResult {
  const details = scored ? {} : { starter_scored: false };
  return { submission, valid: false, score: null, problems: [{ code, message }], details };
}

function failed({ message, printed }: Pick<GraderFailure, 'message' | 'printed'>): GraderFailed {
  return new GraderFailed(`No submission can be graded: ${message}:\n${printed}`);
}
