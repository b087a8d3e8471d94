export { type RunExperimentOptions, runExperimentHere } from './run-experiment.ts';
