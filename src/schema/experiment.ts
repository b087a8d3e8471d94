import { z } from 'zod';
import { ExperimentName } from './ids.ts';
import { Limits } from './limits.ts';
import { AgentOptions, RunSpec, SandboxDriver } from './run.ts';

const AgentEntry = z.union([
  z.string().min(1),
  z.strictObject({ name: z.string().min(1), options: AgentOptions.default({}) }),
]);

/** What to run: the keys of an experiment file, and the flags of `mlab run`. */
export const ExperimentFile = z
  .strictObject({
    name: ExperimentName.optional().describe('folder of the experiment; default: made from what is run'),
    tasks: z.array(z.string().min(1)).default([]).describe('task ids'),
    suite: z.string().optional().describe('a named group of tasks'),
    agents: z.array(AgentEntry).min(1).default(['automl']).describe('agents, by name or with options'),
    models: z.array(z.string().min(1)).default([]).describe('language models, for agents that need one'),
    seeds: z
      .union([z.int().min(1).max(10_000), z.array(z.int().min(0)).min(1)])
      .default(1)
      .describe('how many seeds, or which'),
    limits: Limits.partial().default({}).describe("override the tasks' limits"),
    parallel: z
      .int()
      .min(1)
      .max(1024)
      .optional()
      .describe('runs at a time; default: half the cores, at least 1'),
    sandbox: SandboxDriver.default('bubblewrap').describe('how agent code is confined'),
    docker_image: z
      .string()
      .min(1)
      .optional()
      .describe("image for the docker driver; default: the host's own system, read-only, in an empty image"),
    gpu: z.boolean().default(false).describe('grant GPUs to tasks that want one'),
    grade: z
      .enum(['final', 'all', 'none'])
      .default('final')
      .describe('which steps are graded when a run ends'),
  })
  .meta({ id: 'ExperimentFile' });
export type ExperimentFile = z.infer<typeof ExperimentFile>;

/** `plan.json`: frozen before anything runs. */
export const Plan = z.object({
  v: z.literal(1),
  name: ExperimentName,
  created: z.int(),
  mlab: z.string(),
  parallel: z.int().min(1),
  grade: z.enum(['final', 'all', 'none']),
  runs: z.array(RunSpec).min(1),
});
export type Plan = z.infer<typeof Plan>;
