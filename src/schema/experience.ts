import { z } from 'zod';
import { ExperimentName, RunId } from './ids.ts';
import { Metric } from './task.ts';
import { Time } from './time.ts';

/** The features by which tasks are compared: nothing in it is hidden from agents. */
export const TaskFingerprint = z.object({
  task: z.string().min(1),
  /** The task of which it is a variant; its own id if it is not one. */
  family: z.string().min(1),
  category: z.string(),
  modality: z.string(),
  metric: Metric.pick({ name: true, direction: true }),
  /** What the submission must contain, as far as the task says; null for a submission that is not a table. */
  target: z.object({ kind: z.string(), columns: z.array(z.string()) }).nullable(),
  /** Of the original data, in words. */
  size: z.string().nullable(),
  /** Top-level packages that the starter imports, sorted. */
  libraries: z.array(z.string()),
  gpu: z.boolean(),
});
export type TaskFingerprint = z.infer<typeof TaskFingerprint>;

/** One line of text, shortened: what agents and their scripts wrote can be anything. */
const shortText = z.string().max(400);

/** A change to the script, with its result. */
export const ExperienceChange = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('number'),
    /** The name in the script. */
    name: z.string().min(1).max(100),
    from: z.number(),
    to: z.number(),
    text: shortText,
  }),
  z.object({
    /** A change of how the script works, or a model that replaces the starter's. */
    kind: z.enum(['rewrite', 'model']),
    /** The same for every script. */
    name: z.string().min(1).max(100),
    text: shortText,
  }),
  z.object({ kind: z.literal('edit'), text: shortText }),
]);
export type ExperienceChange = z.infer<typeof ExperienceChange>;

/** `better`: beyond the noise. `unclear`: there was no earlier measurement to compare with. */
export const ExperienceOutcome = z.enum(['better', 'not_better', 'unclear', 'failed']);
export type ExperienceOutcome = z.infer<typeof ExperienceOutcome>;

/** Higher is better; null: not measured. */
const gain = z.number().nullable();

/** One line of `experience.jsonl`: the result of one try in one run, from its trace. */
export const ExperienceEntry = z.object({
  v: z.literal(1),
  /** Derived from the source: adding a run again adds nothing. */
  id: z.string().regex(/^[0-9a-f]{12}$/),
  fingerprint: TaskFingerprint,
  change: ExperienceChange,
  outcome: ExperienceOutcome,
  effect: z.object({
    /** In units of the noise, see docs/how-to/experience.md. */
    noise_units: gain,
    /** Of the script's own metric, in its unit. */
    validation: gain,
    /** Of the hidden score, in its unit. */
    hidden: gain,
  }),
  /** Of the run's time, from the first edit to the last measurement. */
  seconds: z.number().min(0),
  /** Why it failed; null if it did not. */
  failure: shortText.nullable(),
  source: z.object({ experiment: ExperimentName, run: RunId, step: z.int().min(0) }),
  /** With its model and options, as shown to people. */
  agent: z.string(),
  /** When the run ended: milliseconds since 1970. */
  time: Time,
});
export type ExperienceEntry = z.infer<typeof ExperienceEntry>;

/**
 * What a run learns about the tries of one change on one task: frozen in its plan. It describes the most informative
 * try.
 */
export const Lesson = ExperienceEntry.pick({
  id: true,
  change: true,
  failure: true,
  source: true,
  agent: true,
}).extend({
  /** Of the most informative try. Without the hidden score, which agents must not see. */
  effect: ExperienceEntry.shape.effect.omit({ hidden: true }),
  fingerprint: TaskFingerprint.pick({ task: true, modality: true, metric: true }),
  /** How often it was tried, and how that ended. */
  tries: z.int().min(1),
  better: z.int().min(0),
  failed: z.int().min(0),
  /** Of its task to the run's, 0 to 1. */
  similarity: z.number().min(0).max(1),
});
export type Lesson = z.infer<typeof Lesson>;

/** Prompts of language models include this many lessons, the best ones; agents that count lessons use all. */
export const maxLessonsShown = 10;
