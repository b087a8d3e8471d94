import type { RunEvaluation, StepReading, StepSummary, StepWarning } from '../schema/index.ts';
import { ObservedNumbers, stepWarnings, validationReadings } from '../statistics/index.ts';
import type { RunFolder } from '../store/index.ts';
import { readTranscript } from './read-transcript.ts';
import { stepSummaries } from './step-summaries.ts';

/** Findings about single steps of a run. */
export interface StepFindings {
  /** Things to warn people of. */
  warnings: StepWarning[];
  /** The agent's own validation metric, as its scripts printed it. */
  readings: StepReading[];
  /** What each step did. */
  summaries: StepSummary[];
}

/** @throws UserError as `readTranscript` */
export function stepFindings(folder: RunFolder, evaluation: RunEvaluation): StepFindings {
  if (!folder.hasTrace()) return { warnings: [], readings: [], summaries: [] };
  const transcript = readTranscript(folder, evaluation.grades);
  return {
    warnings: stepWarnings(transcript, evaluation),
    readings: validationReadings(transcript, new ObservedNumbers(), evaluation.scoring_reference),
    summaries: stepSummaries(folder.objects, transcript),
  };
}
