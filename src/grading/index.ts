export { type GradeRunOptions, gradeRun } from './grade-run.ts';
export { GraderFailed } from './grader-process.ts';
