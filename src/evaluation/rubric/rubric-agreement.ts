import type { RubricJudgement, RubricQuestion } from '../../schema/index.ts';
import { exactAgreement, mean, ordinalAlpha } from '../../statistics/index.ts';

export interface RubricSummary {
  /** Ratings by question, in the order in which they were given. */
  ratings: Readonly<Record<RubricQuestion, readonly number[]>>;
  means: Readonly<Record<RubricQuestion, number | null>>;
  /** Judgements without ratings. */
  unread: number;
}

export function summarise(judgements: readonly RubricJudgement[]): RubricSummary {
  const ratingsOf = (question: RubricQuestion) =>
    judgements.flatMap(
      ({ ratings }) => ratings?.find((rating) => rating.question === question)?.rating ?? [],
    );
  const ratings = byQuestion(ratingsOf);
  return {
    ratings,
    means: byQuestion((question) => (ratings[question].length === 0 ? null : mean(ratings[question]))),
    unread: judgements.filter((judgement) => judgement.ratings === null).length,
  };
}

/** How far repeats agree: over all runs and questions, where each pair of run and question is one rated item. */
export function rubricAgreement(summaries: readonly RubricSummary[]): {
  exact: number | null;
  alpha: number | null;
} {
  const units = summaries.flatMap(({ ratings }) => Object.values(ratings));
  return { exact: exactAgreement(units), alpha: ordinalAlpha(units) };
}

function byQuestion<Value>(of: (question: RubricQuestion) => Value): Record<RubricQuestion, Value> {
  return {
    understanding: of('understanding'),
    method: of('method'),
    honesty: of('honesty'),
    debugging: of('debugging'),
    decisions: of('decisions'),
  };
}
