/** One thing that is wrong in a task's folder, and what to do about it. */
export interface TaskProblem {
  /** Absolute path. */
  file: string;
  /** Dotted path of the field, such as `submission.files.0.path`; null where it is about the whole file. */
  field: string | null;
  /** Line in the file, from 1; null where there is none. */
  line: number | null;
  message: string;
  fix: string;
}

/** `tasks/digits/task.yaml:12 metric.direction: …` with the fix on a line of its own. */
export function describeProblem(problem: TaskProblem): string {
  const place = problem.line === null ? problem.file : `${problem.file}:${problem.line}`;
  const field = problem.field === null ? '' : ` ${problem.field}`;
  return `${place}${field}: ${problem.message}\n  fix: ${problem.fix}`;
}
