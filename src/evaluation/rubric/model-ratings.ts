import { plainLine } from '../../lib/plain-line.ts';
import { type ModelRatings, type RubricJudgement, RubricQuestion } from '../../schema/index.ts';
import { questions } from './questions.ts';
import { summarise } from './rubric-agreement.ts';

const mostOfQuote = 300;

/**
 * The ratings of a run by model. Ratings with a different prompt, from another rubric or an earlier state of the run,
 * are kept apart.
 */
export function modelRatings(judgements: readonly RubricJudgement[]): ModelRatings[] {
  const groups = Map.groupBy(judgements, ({ model, prompt }) => `${model} ${prompt}`);
  return [...groups.values()].map(ratingsOf).toSorted((one, other) => one.time - other.time);
}

function ratingsOf(judgements: readonly RubricJudgement[]): ModelRatings {
  const { means, unread } = summarise(judgements);
  const last = judgements.at(-1);
  if (last === undefined) throw new Error('a group has a judgement');
  return {
    ...{ model: last.model, time: last.time, repeats: judgements.length, unread },
    questions: RubricQuestion.options.map((question) => ({
      question,
      ask: questions[question].ask,
      mean: means[question],
      ratings: judgements.flatMap(({ ratings }) =>
        (ratings ?? [])
          .filter((rating) => rating.question === question)
          .map(({ rating, step, quote }) => ({ rating, step, quote: plainLine(quote, mostOfQuote) || '…' })),
      ),
    })),
  };
}
