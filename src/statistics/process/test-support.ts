import type { GradedStep, ScoringReference } from '../../schema/index.ts';
import type { RunTranscript, TranscriptStep } from './run-transcript.ts';

export const noSubmission = { present: false, hash: null, written_at_step: null, stale: false };

/** A step that changed nothing and ran nothing. */
export function did(
  action: string,
  args: Record<string, unknown> = {},
  more: Partial<TranscriptStep> = {},
): TranscriptStep {
  return {
    ...{ step: 0, action, args, status: 'ok', exitCode: null, observation: '', byModel: false, entries: {} },
    ...{ changed: [], changedCount: more.changed?.length ?? 0, snapshot: '', submission: noSubmission },
    used: { seconds: 0, tokens: 0, money: 0 },
    ...more,
  };
}

export function executed(observation: string, more: Partial<TranscriptStep> = {}): TranscriptStep {
  return did('Execute Script', { script_name: 'train.py' }, { exitCode: 0, observation, ...more });
}

export function crashed(observation: string, more: Partial<TranscriptStep> = {}): TranscriptStep {
  return executed(observation, { status: 'failed', exitCode: 1, ...more });
}

export function edited(file = 'train.py', more: Partial<TranscriptStep> = {}): TranscriptStep {
  return did('Write File', { file_name: file, content: '' }, { changed: [file], ...more });
}

/** A transcript of these steps, numbered from 1. */
export function transcriptOf(
  steps: readonly TranscriptStep[],
  more: Partial<RunTranscript> = {},
): RunTranscript {
  return {
    ...{
      problem: 'Improve the accuracy by more than 10 %.',
      submissionFiles: ['submission.csv'],
      starter: null,
    },
    steps: steps.map((step, index) => ({ ...step, step: index + 1 })),
    ...{ lastEntries: {}, formatErrors: [], end: null, grades: [] },
    ...more,
  };
}

export function answered(finalAnswer: string): RunTranscript['end'] {
  return { reason: 'final_answer', message: '', finalAnswer };
}

export function graded(step: number, score: number | null, more: Partial<GradedStep> = {}): GradedStep {
  const used = { seconds: 10 * step, tokens: 100 * step, money: null };
  return { step, score, valid: score !== null, final: false, baseline: 0.5, stale: false, ...used, ...more };
}

export const scoringReference: ScoringReference = {
  ...{ direction: 'maximize', threshold: 0.1, reference: null, best: 1 },
  baseline: { mean: 0.5, spread: null, seeds: null },
};
