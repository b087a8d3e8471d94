export { type Direction, improvement, isSuccess } from './competence.ts';
export { driftInSpreads, type Figures } from './drift.ts';
export { EfficiencySums, efficiencyOf } from './efficiency.ts';
export { isExecution } from './executions.ts';
export { typesInto } from './integrity/forged-results.ts';
export { integrityFlags } from './integrity/integrity.ts';
export type { FormatError, RunStory, StoryStep } from './process/run-story.ts';
export { type Cell, improvementOf, type RunOutcome, resultCells, succeeded } from './results.ts';
export { type Interval, mean, median, sampleStandardDeviation, wilsonInterval } from './summary.ts';
