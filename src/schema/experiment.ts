import { z } from 'zod';
import { RunParent } from './event.ts';
import { ExecutorSettings } from './executor.ts';
import { ExperimentName } from './ids.ts';
import { Limits } from './limits.ts';
import { ModelName, ModelPrice, ProviderSettings, RoleSettings } from './model.ts';
import { AgentOptions, RunClock, RunSpec, SandboxDriver } from './run.ts';
import { Time } from './time.ts';

const AgentEntry = z.union([
  z.string().min(1),
  z.strictObject({ name: z.string().min(1), options: AgentOptions.default({}) }),
]);

/** Settings that are missing are as in the paper. */
const RoleEntry = RoleSettings.partial();

/** Limits on all runs of an experiment together. They may be raised later. */
export const ExperimentQuota = z.strictObject({
  tokens: z.int().min(1).optional().describe('tokens of language models in all runs together'),
  money: z
    .number()
    .positive()
    .optional()
    .describe('cost of language models in all runs together, in US dollars'),
});
export type ExperimentQuota = z.infer<typeof ExperimentQuota>;

/** What each run holds while it is executed, which determines how many run at once. */
export const RunResources = z.strictObject({
  cores: z.number().positive().optional().describe('cores of a run, and threads of its numerical libraries'),
  memory_mb: z.int().min(1).optional().describe("memory of a run, in MiB; default: the run's limit"),
});
export type RunResources = z.infer<typeof RunResources>;

/** What to run: the keys of an experiment file, and the flags of `mlab run`. */
export const ExperimentFile = z
  .strictObject({
    name: ExperimentName.optional().describe(
      'name of the experiment and its folder; default: derived from tasks and agents',
    ),
    tasks: z.array(z.string().min(1)).default([]).describe('task ids'),
    suite: z.string().optional().describe('a named group of tasks'),
    agents: z
      .array(AgentEntry)
      .min(1)
      .default(['automl'])
      .describe('agents, by name or with options; default: automl'),
    models: z
      .array(ModelName)
      .default([])
      .describe(
        'language models for agents that need one: anthropic/…, openai/…, google/…, openai-compatible/…, scripted/FILE, or a provider of the experiment file',
      ),
    roles: z
      .strictObject({ agent: RoleEntry, editor: RoleEntry, fast: RoleEntry })
      .partial()
      .default({})
      .describe("settings of the roles agent, editor and fast; the model of a role defaults to the agent's"),
    providers: z
      .record(
        z.string().regex(/^[a-z0-9][a-z0-9._-]*$/, 'lower-case letters, digits, ".", "_" and "-"'),
        ProviderSettings,
      )
      .default({})
      .describe('settings of providers of language models, and own ones by a name'),
    prices: z.record(ModelName, ModelPrice).default({}).describe('prices that override the built-in table'),
    spend: ExperimentQuota.default({}).describe('limits on what language models use, of all runs together'),
    interactive: z.boolean().default(false).describe('answer at the terminal when an agent asks for help'),
    approve_later: z
      .boolean()
      .optional()
      .describe('hold every action until somebody decides on it with mlab decide'),
    seeds: z
      .union([z.int().min(1).max(10_000), z.array(z.int().min(0)).min(1)])
      .default(1)
      .describe('how many seeds (3: 0, 1 and 2), or which (4,7 or 4-7)'),
    limits: Limits.partial().default({}).describe('limits that override those of the tasks'),
    parallel: z
      .int()
      .min(1)
      .max(1024)
      .optional()
      .describe(
        'maximum number of runs at a time; default: as many as fit into cores (two per run), memory (the limit of a run) and GPUs; a number without resources gives each run an equal share of cores and memory',
      ),
    resources: RunResources.optional().describe('what a run holds on the machine: cores, memory_mb'),
    executor: ExecutorSettings.default({}).describe('where runs are executed, and what is asked for there'),
    sandbox: SandboxDriver.default('bubblewrap').describe('sandbox for agent code'),
    docker_image: z
      .string()
      .min(1)
      .optional()
      .describe('image for the docker driver; default: the system folders of this machine, read-only'),
    experience: z
      .string()
      .min(1)
      .optional()
      .describe('experience of earlier runs, for agents that use it: a store or its folder'),
    same_task: z
      .boolean()
      .optional()
      .describe('also use experience with the same task and its variants; results get a caveat'),
    gpu: z.boolean().default(false).describe('give a GPU to runs of tasks that use one'),
    gpus: z.int().min(1).max(64).optional().describe('GPUs for each of these runs; default: 1'),
    clock: RunClock.optional().describe(
      'what counts against the time limit: wall (all time, the default), or active (without waiting for language models)',
    ),
    grade: z.enum(['final', 'all', 'none']).default('final').describe('steps to grade when a run ends'),
  })
  .meta({ id: 'ExperimentFile' });
export type ExperimentFile = z.infer<typeof ExperimentFile>;
/** In the form that people write: missing keys have their defaults. */
export type ExperimentInput = z.input<typeof ExperimentFile>;

/** `plan.json`: frozen before anything runs. */
export const Plan = z.object({
  v: z.literal(1),
  name: ExperimentName,
  created: Time,
  mlab: z.string(),
  parallel: z.int().min(1),
  /** What each run holds; absent: the machine is divided by `parallel`. */
  resources: RunResources.optional(),
  grade: z.enum(['final', 'all', 'none']),
  providers: z.record(z.string(), ProviderSettings).optional(),
  prices: z.record(z.string(), ModelPrice).optional(),
  spend: ExperimentQuota.optional(),
  runs: z.array(RunSpec).min(1),
});
export type Plan = z.infer<typeof Plan>;

/** `branches/<run id>.json`: a branch that a person began from a run. Frozen before it runs, like the plan. */
export const BranchPlan = z.object({
  v: z.literal(1),
  created: Time,
  mlab: z.string(),
  /** Who began it. */
  actor: z.string().min(1).max(200),
  /** As the run that it is a branch of, except for `id` and `parent`. */
  run: RunSpec.and(z.object({ parent: RunParent })),
});
export type BranchPlan = z.infer<typeof BranchPlan>;
