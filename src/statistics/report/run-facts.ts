import { plainLine } from '../../lib/plain-line.ts';
import {
  type GradedStep,
  type Outcome,
  ReportAttempt,
  type ReportRun,
  type RunEvaluation,
  type ScoringReference,
  type TokenSums,
} from '../../schema/index.ts';
import { baselineNoise, improvement, isSuccess, normalisedScore } from '../competence.ts';
import { everyStepGraded } from '../graded-steps.ts';
import type { ReportSettings } from './options.ts';

/** The paper's: success is an improvement beyond 10 % (arXiv 2310.03302, section 4). */
const paperThreshold = 0.1;
/** Characters of what an attempt changes. */
const longestChange = 100;

/** Figures in task.yaml have six digits: the starter's own score may differ by so much from its mean. */
const figuresRounding = 1e-5;

/** A run with everything that the report derives from it. */
export interface RunFacts {
  evaluation: RunEvaluation;
  line: ReportRun;
  /** The scoring reference of its score under the report's convention; null while nothing is graded. */
  scoringReference: ScoringReference | null;
  /** Whether it ended, and was graded or is an infrastructure failure. */
  judged: boolean;
  infrastructure: boolean;
  /** Whether it counts under the report's convention. */
  inRate: boolean;
  /** Whether there are steps, and each was graded. */
  stepsGraded: boolean;
  /** It ended before its first step, or its agent takes none. */
  hasNoSteps: boolean;
  /** Improvement of each grade; null if it is not valid, or there is no baseline to compare with. */
  gains: readonly (number | null)[];
  /** Of its best step, as a fraction; null if none was valid. */
  bestGain: number | null;
  /** Of the final submission; 0 if it is not valid; null if there is no baseline to compare with. */
  heldGain: number | null;
  /**
   * Higher is better; −∞ without a valid submission. Comparable between runs of one task: the score, or the improvement
   * where each grading measures its own baseline.
   */
  rank: number;
  flagged: boolean;
  doubted: boolean;
}

/** From the run alone: what a report says of it does not depend on its other runs. */
export function factsOf(evaluation: RunEvaluation, settings: ReportSettings): RunFacts {
  const { end, grades, efficiency, integrity, process, status, caveats, steps } = evaluation;
  const judge = judgeOf(evaluation, settings);
  const final = grades.findLast((grade) => grade.final) ?? null;
  const infrastructure = end?.reason === 'infrastructure_error';
  const judged = end !== null && (final !== null || infrastructure);
  const { score, baseline, gain, normalised } = judge.result(final);
  const success = judged && judge.succeeds(gain);
  const best = judge.best(grades);
  const { money, seconds, tokens } = efficiency;
  const { experiment, run, task, agent, seed } = evaluation;
  const isHeldAtBaseline = judged && score === null && judge.canNormalise;
  return {
    evaluation,
    line: {
      ...{
        experiment,
        run,
        task,
        agent,
        seed,
        status,
        end,
        steps,
        score,
        baseline,
        normalised: isHeldAtBaseline ? 0 : normalised,
        success: judged ? success : null,
        best,
      },
      ...(evaluation.parent === undefined ? {} : { parent: evaluation.parent }),
      improvement: gain,
      outcome: outcomeOf({ judged, infrastructure, success, score, gain }),
      significant: judged ? judge.isSignificant(success, gain) : null,
      stale: final?.stale ?? false,
      seconds: seconds.wall,
      tokens: sumOf(tokens.agent) + sumOf(tokens.tools),
      tokens_estimated: tokens.agent.estimated + tokens.tools.estimated,
      money,
      ...(efficiency.models === undefined ? {} : { models: efficiency.models }),
      flags: [...new Set(integrity.map(({ kind }) => kind))].sort(),
      errors: [...new Set(process.errors.map(({ category }) => category))].sort(),
      caveats: caveats.toSorted(),
      ...unmeasuredPart(process),
      ...(evaluation.branches === undefined ? {} : { branches: evaluation.branches }),
      ...attemptsPart(evaluation),
    },
    scoringReference: judge.scoringReference,
    judged,
    infrastructure,
    inRate: judged && !(infrastructure && settings.convention === 'paper'),
    stepsGraded: steps > 0 && everyStepGraded(grades, ownSteps(evaluation)),
    hasNoSteps: judged && steps === 0,
    gains: grades.map(judge.gainOf),
    bestGain: best?.improvement ?? null,
    heldGain: score === null ? 0 : gain,
    rank: judge.rank(final),
    flagged: integrity.length > 0,
    doubted: integrity.some(({ weight }) => weight === 'doubt'),
  };
}

export function hasSucceeded({ line }: RunFacts): boolean {
  return line.success === true;
}

/** The number of steps in the history of the selected branch. */
function ownSteps({ branches = [], steps }: RunEvaluation): number {
  const selected = branches.find((branch) => branch.selected);
  return selected === undefined ? steps : (selected.origin?.step ?? 0) + selected.steps;
}

function unmeasuredPart(process: RunEvaluation['process']): Pick<RunFacts['line'], 'unmeasured'> {
  const unmeasured = pathsWithoutValue(process);
  return unmeasured.length === 0 ? {} : { unmeasured };
}

function pathsWithoutValue(value: object, path = ''): string[] {
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]) => {
    if (inner === null) return [`${path}${name}`];
    return typeof inner === 'object' && !Array.isArray(inner)
      ? pathsWithoutValue(inner, `${path}${name}.`)
      : [];
  });
}

/** Prompt and completion; cached and reasoning tokens are parts of these. */
function sumOf({ prompt, completion }: TokenSums): number {
  return prompt + completion;
}

interface Judged {
  judged: boolean;
  infrastructure: boolean;
  success: boolean;
  score: number | null;
  gain: number | null;
}

function outcomeOf({ judged, infrastructure, success, score, gain }: Judged): Outcome {
  if (infrastructure) return 'infrastructure';
  if (!judged) return 'unfinished';
  if (success) return 'success';
  if (score === null) return 'invalid';
  return gain !== null && gain > figuresRounding ? 'small_improvement' : 'no_improvement';
}

/** Grades compared with the scoring reference that the convention requires. */
function judgeOf({ task, scoring_reference: own }: RunEvaluation, settings: ReportSettings) {
  const isPaper = settings.convention === 'paper';
  const patched = isPaper ? settings.paperBaselines[task] : undefined;
  const scoringReference = own === null ? null : scoringReferenceFor(own, isPaper, patched);
  const noise = scoringReference === null ? null : baselineNoise(scoringReference.baseline);
  const sign = scoringReference?.direction === 'minimize' ? -1 : 1;
  const gainOf = (grade: GradedStep): number | null =>
    scoringReference === null || grade.score === null
      ? null
      : improvement(grade.score, patched ?? grade.baseline, scoringReference.direction);
  return {
    scoringReference,
    gainOf,
    canNormalise:
      scoringReference?.reference != null &&
      normalisedScore(scoringReference.reference.mean, scoringReference.baseline.mean, scoringReference) !==
        null,
    succeeds: (gain: number | null) =>
      scoringReference !== null && isSuccess(gain, scoringReference.threshold),
    isSignificant: (success: boolean, gain: number | null) =>
      noise === null ? null : success && gain !== null && gain > noise,
    result(grade: GradedStep | null) {
      if (grade === null) return { score: null, baseline: null, gain: null, normalised: null };
      const { score } = grade;
      const baseline = patched ?? grade.baseline;
      const normalised =
        score === null || scoringReference === null
          ? null
          : normalisedScore(score, baseline, scoringReference);
      return { score, baseline, gain: gainOf(grade), normalised };
    },
    /** The starter's own submission, before the first step, is not the agent's, unless it is all that is left. */
    best(grades: readonly GradedStep[]): ReportRun['best'] {
      let best: ReportRun['best'] = null;
      let highest = Number.NEGATIVE_INFINITY;
      for (const grade of grades) {
        const { step, score, final } = grade;
        if ((step === 0 && !final) || score === null) continue;
        const rank = this.rank(grade);
        if (rank > highest) best = { step, score, improvement: gainOf(grade) };
        highest = Math.max(highest, rank);
      }
      return best;
    },
    rank(grade: GradedStep | null) {
      if (grade === null || grade.score === null) return Number.NEGATIVE_INFINITY;
      const isTimed = grade.baseline !== own?.baseline.mean;
      return (isTimed ? gainOf(grade) : null) ?? sign * grade.score;
    },
  };
}

/** Without what takes much space: there may be hundreds of them in a run, and hundreds of runs. */
function attemptsPart({ attempts }: RunEvaluation): Pick<ReportRun, 'attempts'> {
  if (attempts === undefined) return {};
  return {
    attempts: attempts.map((attempt) =>
      ReportAttempt.parse({ ...attempt, change: plainLine(attempt.change, longestChange) }),
    ),
  };
}

/** The paper has its own baselines for the tasks it patched, and requires 10 % for every task. */
function scoringReferenceFor(
  own: ScoringReference,
  isPaper: boolean,
  patched: number | undefined,
): ScoringReference {
  if (!isPaper) return own;
  const baseline = patched === undefined ? own.baseline : { mean: patched, spread: null, seeds: null };
  return { ...own, baseline, threshold: paperThreshold };
}
