import type { ErrorCategory, Evidence, ProcessMetrics, ScoringReference } from '../../schema/index.ts';
import { improvement, isSuccess } from '../competence.ts';
import { errorOf, type FailedChain, failedChains } from './debugging.ts';
import type { RunTranscript, TranscriptStep } from './run-transcript.ts';
import { formatErrorCount, repeatedActions } from './waste.ts';

type Measured = Omit<ProcessMetrics, 'errors'>;

const maxEvidence = 3;
/**
 * The number of consecutive failures from which debugging counts as stuck, if it never ended, or only with the same
 * error.
 */
const longChain = 3;
const manyFormatErrors = 3;
const shareOfFormatErrors = 0.2;
const manyRepeats = 3;
const shareOfRepeats = 0.25;
const manyItems = 4;

/** The paper's kinds of failure in a run, in the paper's order: none, one or several. */
export function errorCategories(
  transcript: RunTranscript,
  scoringReference: ScoringReference | null,
  measured: Measured,
): ProcessMetrics['errors'] {
  // It was cut off: how its agent would have ended is not known. Nor is it if others acted for it.
  if (transcript.end?.reason === 'infrastructure_error' || transcript.isShared === true) return [];
  const found: (readonly [ErrorCategory, Evidence[]])[] = [
    ['hallucination', measured.grounding.examples.slice(0, maxEvidence)],
    ['debugging', debuggingInVain(transcript)],
    ['context_limit', contextLimit(transcript)],
    ['bad_plan', badPlan(transcript, measured)],
    ['response_format', responseFormat(transcript)],
    ['submission_format', submissionFormat(transcript)],
    [
      'small_or_no_improvement',
      scoringReference === null ? [] : smallImprovement(transcript, scoringReference),
    ],
  ];
  return found.flatMap(([category, evidence]) => (evidence.length === 0 ? [] : [{ category, evidence }]));
}

function debuggingInVain(transcript: RunTranscript): Evidence[] {
  return failedChains(transcript).flatMap((chain) => {
    const why = whyInVain(chain);
    const last = chain.steps.at(-1);
    return why === null || last === undefined ? [] : [{ step: last.step, text: `${why}: ${errorOf(last)}` }];
  });
}

function whyInVain({ steps, recovered }: FailedChain): string | null {
  if (steps.length < longChain) return null;
  if (!recovered) return `${steps.length} failed executions to the end of the run`;
  const same = longestStreak(steps.map(errorOf));
  return same >= longChain ? `the same error ${same} times` : null;
}

/** The length of the longest run of equal texts. */
function longestStreak(texts: readonly string[]): number {
  let [longest, current] = [0, 0];
  for (const [index, text] of texts.entries()) {
    current = text === texts[index - 1] ? current + 1 : 1;
    longest = Math.max(longest, current);
  }
  return longest;
}

function contextLimit({ end }: RunTranscript): Evidence[] {
  const isLimit = end?.reason === 'context_limit' || end?.reason === 'token_limit';
  return isLimit ? [{ step: null, text: `${end.reason}: ${end.message}` }] : [];
}

function badPlan(transcript: RunTranscript, { endings, plan }: Measured): Evidence[] {
  const { steps } = transcript;
  const last = steps.at(-1);
  if (last === undefined) return [];
  const evidence: Evidence[] = [];
  if (endings.never_executed)
    evidence.push({ step: null, text: `nothing was executed in ${last.step} steps` });
  else if (endings.unverified)
    evidence.push({
      step: last.step,
      text: 'a final answer without a successful execution after the last edit',
    });
  const repeats = repeatedActions(transcript);
  if (repeats.length >= manyRepeats && repeats.length >= shareOfRepeats * steps.length)
    evidence.push(...repeats.slice(-1).map((step) => repeatEvidence(step, repeats.length)));
  if (plan.declared >= manyItems && plan.dropped > plan.declared / 2)
    evidence.push({ step: null, text: `${plan.dropped} of ${plan.declared} items of the plan were dropped` });
  return evidence;
}

function repeatEvidence({ step, action }: TranscriptStep, count: number): Evidence {
  return { step, text: `${count} actions were done before with nothing changed since, such as ${action}` };
}

function responseFormat(transcript: RunTranscript): Evidence[] {
  const { end, formatErrors, steps } = transcript;
  if (end?.reason === 'reply_format') return [{ step: null, text: end.message }];
  const count = formatErrorCount(transcript);
  if (count < manyFormatErrors || count < shareOfFormatErrors * (steps.length + formatErrors.length))
    return [];
  return [{ step: null, text: `${count} replies could not be carried out, beside ${steps.length} steps` }];
}

/** It submitted something that the grader did not accept. */
function submissionFormat({ grades, steps }: RunTranscript): Evidence[] {
  const final = grades.findLast((grade) => grade.final);
  const last = steps.at(-1);
  if (final === undefined || final.valid || last?.submission.present !== true) return [];
  return [{ step: final.step, text: 'the grader did not accept the submission' }];
}

function smallImprovement({ grades }: RunTranscript, { direction, threshold }: ScoringReference): Evidence[] {
  const final = grades.findLast((grade) => grade.final);
  if (final === undefined || !final.valid || final.score === null) return [];
  const gain = improvement(final.score, final.baseline, direction);
  if (gain === null || isSuccess(gain, threshold)) return [];
  return [{ step: final.step, text: `an improvement of ${(100 * gain).toFixed(1)} %` }];
}
