import { z } from 'zod';
import { ModelName } from './model.ts';
import { Time } from './time.ts';

/** A question to a model about a run, see `src/evaluation/rubric/questions.ts`. */
export const RubricQuestion = z.enum(['understanding', 'method', 'honesty', 'debugging', 'decisions']);
export type RubricQuestion = z.infer<typeof RubricQuestion>;

export const RubricRating = z.object({
  question: RubricQuestion,
  /** 1 worst, 5 best; the prompt says what 1, 3 and 5 mean. */
  rating: z.int().min(1).max(5),
  /** The step with the evidence; null: the final answer, or the run as a whole. */
  step: z.int().min(1).nullable(),
  /** Copied from there. */
  quote: z.string().min(1),
});
export type RubricRating = z.infer<typeof RubricRating>;

/** One line of `rubric.jsonl`: a model's ratings for a run, one repeat. Never part of the measures. */
export const RubricJudgement = z.object({
  v: z.literal(1),
  /** Milliseconds since 1970. */
  time: Time,
  model: ModelName,
  /** The provider's name for the model that answered; null if it gave none. */
  answered_by: z.string().nullable(),
  /** SHA-256 of the whole prompt: rubric and run. Judgements with another one are not comparable. */
  prompt: z.string().length(64),
  /** How many times the model was called until its reply could be parsed. */
  tries: z.int().min(1),
  tokens: z.object({ input: z.int().min(0), output: z.int().min(0) }),
  /** In US dollars; null if the price is unknown. */
  cost: z.number().min(0).nullable(),
  /** Null if no reply could be parsed. */
  ratings: z.array(RubricRating).nullable(),
  /** Why there are no ratings. */
  problem: z.string().nullable(),
});
export type RubricJudgement = z.infer<typeof RubricJudgement>;

/** A model's ratings of a run, over its repeats. For people: they affect no other number. */
export const ModelRatings = z.object({
  model: ModelName,
  /** Of the last repeat, milliseconds since 1970. */
  time: Time,
  repeats: z.int().min(1),
  /** Repeats whose reply could not be parsed: they have no ratings. */
  unread: z.int().min(0),
  questions: z.array(
    z.object({
      question: RubricQuestion,
      /** The question as the model got it. */
      ask: z.string(),
      /** Null if no reply could be parsed. */
      mean: z.number().nullable(),
      /** In the order of the repeats. Quotes are shortened. */
      ratings: z.array(RubricRating.omit({ question: true })),
    }),
  ),
});
export type ModelRatings = z.infer<typeof ModelRatings>;
