import type { GraderResult, ObjectId, SubmissionProblem } from '../schema/index.ts';
import { submissionHash } from '../store/index.ts';
import type { GraderOptions } from './grader-process.ts';
import { gradeSubmissions, missingFiles, type StoredWorkspace, sizeProblem } from './submission-files.ts';

export interface GradedWorkspace {
  /** Hash over the submission files; null if one is missing. */
  submission: ObjectId | null;
  result: GraderResult;
}

/**
 * Grades the submission of one workspace, regardless of earlier grades. Records nothing.
 * @throws GraderFailed, SandboxError
 */
export async function gradeWorkspace(
  workspace: StoredWorkspace,
  options: GraderOptions,
): Promise<GradedWorkspace> {
  const { task } = options;
  const submission = submissionHash(workspace.entries, task.file.submission.files);
  if (submission === null) return { submission, result: rejected(missingFiles(workspace.entries, task)) };
  const tooLarge = sizeProblem(workspace.entries, task);
  if (tooLarge !== null) return { submission, result: rejected([tooLarge]) };
  const [result] = await gradeSubmissions(new Map([[submission, workspace]]), options);
  if (result === undefined) throw new Error('the grader gave no result');
  return { submission, result };
}

function rejected(problems: SubmissionProblem[]): GraderResult {
  return { submission: '', valid: false, score: null, problems, details: {} };
}
