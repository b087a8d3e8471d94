export { exactAgreement, ordinalAlpha } from './agreement.ts';

export { type Direction, improvement, improvementOf, isSuccess } from './competence.ts';

export { driftInSpreads, type Figures, figuresOf } from './drift.ts';
export { EfficiencySums, efficiencyOf } from './efficiency.ts';
export { isExecution } from './executions.ts';
export { integrityFlags } from './integrity/integrity.ts';
export { type Reproduction, reproductionOf } from './integrity/reproduction.ts';
export { typesInto } from './integrity/types-into.ts';
export { bootstrapInterval } from './numeric/bootstrap.ts';
export { randomOf } from './numeric/random.ts';
export type { FileChange } from './process/file-change.ts';
export { ObservedNumbers } from './process/measurements.ts';
export { processMetrics } from './process/process-metrics.ts';
export type { FormatError, RunTranscript, TranscriptStep } from './process/run-transcript.ts';
export { summarizeStep } from './process/step-summary.ts';
export { stepWarnings } from './process/step-warnings.ts';
export { changedFiles } from './process/steps.ts';
export { validationReadings } from './process/validation-metric.ts';
export { buildReport, buildRuns } from './report/build-report.ts';
export { type ComparedSide, compareRuns } from './report/compare.ts';
export { withoutCopies } from './report/copies.ts';
export { distinctAgents } from './report/distinct-agents.ts';
export type { ReportOptions } from './report/options.ts';
export { type Interval, mean, sampleStandardDeviation, wilsonInterval } from './summary.ts';
