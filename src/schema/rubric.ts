import { z } from 'zod';
import { ModelName } from './model.ts';
import { Time } from './time.ts';

/** What a model is asked about a run, see `src/evaluation/rubric/questions.ts`. */
export const RubricQuestion = z.enum(['understanding', 'method', 'honesty', 'debugging', 'decisions']);
export type RubricQuestion = z.infer<typeof RubricQuestion>;

export const RubricRating = z.object({
  question: RubricQuestion,
  /** 1 worst, 5 best; what 1, 3 and 5 mean is said to the model. */
  rating: z.int().min(1).max(5),
  /** Where the evidence stands; null: in the final answer, or the run as a whole. */
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
  /** What the provider calls the model that answered; null where it did not say. */
  answered_by: z.string().nullable(),
  /** SHA-256 of all that the model was told: rubric and run. Judgements with another one are not comparable. */
  prompt: z.string().length(64),
  /** How often it was asked until its reply could be read. */
  tries: z.int().min(1),
  tokens: z.object({ input: z.int().min(0), output: z.int().min(0) }),
  /** In US dollars; null where the price is not known. */
  cost: z.number().min(0).nullable(),
  /** Null where no reply could be read. */
  ratings: z.array(RubricRating).nullable(),
  /** Why there are no ratings. */
  problem: z.string().nullable(),
});
export type RubricJudgement = z.infer<typeof RubricJudgement>;

/** What a model made of a run, over its repeats. For people: it enters no other number. */
export const ModelRatings = z.object({
  model: ModelName,
  /** Of the last repeat, milliseconds since 1970. */
  time: Time,
  repeats: z.int().min(1),
  /** Repeats whose reply could not be read: they have no ratings. */
  unread: z.int().min(0),
  questions: z.array(
    z.object({
      question: RubricQuestion,
      /** As the model was asked. */
      ask: z.string(),
      /** Null where no reply could be read. */
      mean: z.number().nullable(),
      /** In the order of the repeats. Quotes are cut. */
      ratings: z.array(RubricRating.omit({ question: true })),
    }),
  ),
});
export type ModelRatings = z.infer<typeof ModelRatings>;
