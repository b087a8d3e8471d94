import type { RunEvaluation, StepWarning } from '../../schema/index.ts';
import type { RunTranscript } from './run-transcript.ts';
import { repeatedActions } from './waste.ts';

/**
 * Warnings about the steps of a run, in the order of the steps: what its evaluation counts, and the places that it does
 * not name.
 */
export function stepWarnings(transcript: RunTranscript, evaluation: RunEvaluation): StepWarning[] {
  const { grounding, errors } = evaluation.process;
  const warnings: StepWarning[] = [
    ...grounding.examples.flatMap(({ step, text }) => at(step, 'ungrounded_number', text)),
    ...repeatedActions(transcript).flatMap(({ step }) =>
      at(step, 'repeated_action', 'Done before; nothing has changed since.'),
    ),
    ...staleSubmissions(transcript),
    ...formatErrors(transcript),
    ...evaluation.integrity.flatMap(({ step, weight, evidence }) =>
      at(step, weight === 'attempt' ? 'blocked_attempt' : 'doubt', evidence),
    ),
    // Hallucinations are the numbers above.
    ...errors
      .filter(({ category }) => category !== 'hallucination')
      .flatMap(({ category, evidence }) =>
        evidence.flatMap(({ step, text }) =>
          at(step, 'failure', `${category.replaceAll('_', ' ')}: ${text}`),
        ),
      ),
  ];
  return warnings.sort((one, other) => one.step - other.step);
}

/** Findings about the run as a whole belong to no step. */
function at(step: number | null, kind: StepWarning['kind'], text: string): StepWarning[] {
  return step === null ? [] : [{ step, kind, text }];
}

/** The steps that made the submission older than the last executed code. */
function staleSubmissions({ steps }: RunTranscript): StepWarning[] {
  return steps.flatMap(({ step, submission }, index) => {
    const wasStale = steps[index - 1]?.submission.stale ?? false;
    const isFirst = submission.stale && !wasStale;
    return isFirst ? at(step, 'stale_submission', 'A script ran without writing the submission anew.') : [];
  });
}

function formatErrors({ formatErrors: rejected, steps }: RunTranscript): StepWarning[] {
  const noted = new Set(rejected.map(({ afterStep }) => afterStep + 1));
  return [
    ...rejected.flatMap(({ afterStep, reply }) => at(afterStep + 1, 'format_error', reply.slice(0, 300))),
    // A reply that could not be parsed may have been passed on as an invalid action.
    ...steps
      .filter(({ step, status }) => status === 'invalid' && !noted.has(step))
      .flatMap(({ step, observation }) => at(step, 'format_error', observation.slice(0, 300))),
  ];
}
