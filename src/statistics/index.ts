export { type Direction, improvement, isSuccess } from './competence.ts';
export { driftInSpreads, type Figures } from './drift.ts';
export { processMetrics } from './process/process-metrics.ts';
export type { FormatError, RunStory, StoryStep } from './process/run-story.ts';
export { type Cell, improvementOf, type RunOutcome, resultCells, succeeded } from './results.ts';
export { type Interval, mean, median, sampleStandardDeviation, wilsonInterval } from './summary.ts';
