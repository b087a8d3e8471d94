/** One problem of a task's folder, and its fix. */
export interface TaskProblem {
  /** Absolute path. */
  file: string;
  /** Dotted path of the field, such as `submission.files.0.path`; null if the problem is about the whole file. */
  field: string | null;
  /** Line in the file, from 1; null if there is none. */
  line: number | null;
  message: string;
  fix: string;
}

/** `tasks/digits/task.yaml:12 metric.direction: …` with the fix on the next line. */
export function describeProblem(problem: TaskProblem): string {
  const place = problem.line === null ? problem.file : `${problem.file}:${problem.line}`;
  const field = problem.field === null ? '' : ` ${problem.field}`;
  return `${place}${field}: ${problem.message}\n  fix: ${problem.fix}`;
}
