import type { ErrorCategory, Evidence, ProcessMetrics, Yardstick } from '../../schema/index.ts';
import { improvement, isSuccess } from '../competence.ts';
import { errorOf, type FailedChain, failedChains } from './debugging.ts';
import type { RunStory, StoryStep } from './run-story.ts';
import { formatErrorCount, repeatedActions } from './waste.ts';

type Measured = Omit<ProcessMetrics, 'errors'>;

const mostEvidence = 3;
/** Failures one after another from which on debugging goes nowhere, where it never ended, or only with the same error. */
const longChain = 3;
const manyFormatErrors = 3;
const shareOfFormatErrors = 0.2;
const manyRepeats = 3;
const shareOfRepeats = 0.25;
const manyItems = 4;

/** The paper's kinds of failure that a run shows, in the paper's order: none, one or several. */
export function errorCategories(
  story: RunStory,
  yardstick: Yardstick | null,
  measured: Measured,
): ProcessMetrics['errors'] {
  const found: (readonly [ErrorCategory, Evidence[]])[] = [
    ['hallucination', measured.grounding.examples.slice(0, mostEvidence)],
    ['debugging', debuggingInVain(story)],
    ['context_limit', contextLimit(story)],
    ['bad_plan', badPlan(story, measured)],
    ['response_format', responseFormat(story)],
    ['submission_format', submissionFormat(story)],
    ['small_or_no_improvement', yardstick === null ? [] : smallImprovement(story, yardstick)],
  ];
  return found.flatMap(([category, evidence]) => (evidence.length === 0 ? [] : [{ category, evidence }]));
}

function debuggingInVain(story: RunStory): Evidence[] {
  return failedChains(story).flatMap((chain) => {
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

/** The most equal texts one after another. */
function longestStreak(texts: readonly string[]): number {
  let [longest, current] = [0, 0];
  for (const [index, text] of texts.entries()) {
    current = text === texts[index - 1] ? current + 1 : 1;
    longest = Math.max(longest, current);
  }
  return longest;
}

function contextLimit({ end }: RunStory): Evidence[] {
  const isLimit = end?.reason === 'context_limit' || end?.reason === 'token_limit';
  return isLimit ? [{ step: null, text: `${end.reason}: ${end.message}` }] : [];
}

function badPlan(story: RunStory, { endings, plan }: Measured): Evidence[] {
  const { steps } = story;
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
  const repeats = repeatedActions(story);
  if (repeats.length >= manyRepeats && repeats.length >= shareOfRepeats * steps.length)
    evidence.push(...repeats.slice(-1).map((step) => repeatEvidence(step, repeats.length)));
  if (plan.declared >= manyItems && plan.dropped > plan.declared / 2)
    evidence.push({ step: null, text: `${plan.dropped} of ${plan.declared} items of the plan were dropped` });
  return evidence;
}

function repeatEvidence({ step, action }: StoryStep, count: number): Evidence {
  return { step, text: `${count} actions were done before with nothing changed since, such as ${action}` };
}

function responseFormat(story: RunStory): Evidence[] {
  const { end, formatErrors, steps } = story;
  if (end?.reason === 'reply_format') return [{ step: null, text: end.message }];
  const count = formatErrorCount(story);
  if (count < manyFormatErrors || count < shareOfFormatErrors * (steps.length + formatErrors.length))
    return [];
  return [{ step: null, text: `${count} replies could not be carried out, beside ${steps.length} steps` }];
}

/** It handed in something, and the grader did not take it. */
function submissionFormat({ grades, steps }: RunStory): Evidence[] {
  const final = grades.findLast((grade) => grade.final);
  const last = steps.at(-1);
  if (final === undefined || final.valid || last?.submission.present !== true) return [];
  return [{ step: final.step, text: 'the grader did not accept the submission' }];
}

function smallImprovement({ grades }: RunStory, { direction, threshold }: Yardstick): Evidence[] {
  const final = grades.findLast((grade) => grade.final);
  if (final === undefined || !final.valid || final.score === null) return [];
  const gain = improvement(final.score, final.baseline, direction);
  if (gain === null || isSuccess(gain, threshold)) return [];
  return [{ step: final.step, text: `an improvement of ${(100 * gain).toFixed(1)} %` }];
}
