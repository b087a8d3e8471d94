export { graderErrorOf, unsureCaveat } from './grade-each.ts';
export { type GradeRunOptions, gradeRun, graderFor } from './grade-run.ts';
export { type GradedWorkspace, gradeWorkspace } from './grade-workspace.ts';
export { GraderFailed } from './grader-process.ts';
export type { ToolModel } from './submission-worker.ts';
