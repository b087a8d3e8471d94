import { z } from 'zod';
import {
  Comparison,
  Convention,
  ObjectId,
  Report,
  RunEvaluation,
  RunId,
  StepDiff,
  StepReading,
  StepSummary,
  StepWarning,
} from '../../schema/index.ts';

/** The jobs of the background process, which leaves the server free to answer. */
export const BackgroundJob = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('report'),
    folder: z.string(),
    /** Only these; null: all. */
    runs: z.array(RunId).nullable(),
    convention: Convention,
    tasks: z.array(z.string()),
  }),
  z.object({
    kind: z.literal('comparison'),
    /** Folders of experiments: two to compare with each other, or one to compare its agents. */
    folders: z.array(z.string()),
    a: z.string(),
    b: z.string(),
    tasks: z.array(z.string()),
  }),
  z.object({ kind: z.literal('evaluation'), folder: z.string(), run: RunId }),
  z.object({ kind: z.literal('diff'), objects: z.string(), before: ObjectId, after: ObjectId }),
]);
export type BackgroundJob = z.infer<typeof BackgroundJob>;

const Failure = z.object({ code: z.string(), message: z.string(), hint: z.string() });

/** The result of each job. */
export const results = {
  report: z.object({ report: Report, unreadable: z.array(z.string()) }),
  comparison: z.object({ comparison: Comparison }),
  evaluation: z.object({
    evaluation: RunEvaluation,
    warnings: z.array(StepWarning),
    readings: z.array(StepReading),
    summaries: z.array(StepSummary),
  }),
  diff: StepDiff.pick({ files: true, total: true }),
} as const;
export type Results = { [Kind in BackgroundJob['kind']]: z.infer<(typeof results)[Kind]> };
export type JobOf<Kind extends BackgroundJob['kind']> = Omit<Extract<BackgroundJob, { kind: Kind }>, 'kind'>;

export const Order = z.object({ id: z.int(), job: BackgroundJob });

/** A message of the process about a job. */
export const Message = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('progress'), id: z.int(), done: z.int(), total: z.int() }),
  z.object({ kind: z.literal('result'), id: z.int(), result: z.unknown() }),
  z.object({ kind: z.literal('failure'), id: z.int(), failure: Failure }),
]);
export type Message = z.infer<typeof Message>;
