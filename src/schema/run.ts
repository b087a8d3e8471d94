import { z } from 'zod';
import { EndReason, RunParent } from './event.ts';
import { Lesson } from './experience.ts';
import { BranchId, ExperimentName, RunId, TaskId } from './ids.ts';
import { Limits } from './limits.ts';
import { ModelRoles } from './model.ts';
import { Time } from './time.ts';

export const SandboxDriver = z.enum(['bubblewrap', 'docker', 'none']);
export type SandboxDriver = z.infer<typeof SandboxDriver>;

export const AgentOptions = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));
export type AgentOptions = z.infer<typeof AgentOptions>;

/** Where an agent that is no part of mlab was loaded from. */
export const AgentSource = z.strictObject({
  /** Absolute path of its module. */
  path: z.string(),
  /** SHA-256 in hex over the file and all that it imports; of Python, from its own folder. */
  sha256: z.string().length(64),
  /** Of a module of an npm package: name@version, and npm's integrity where its lock has it. */
  package: z.string().optional(),
});
export type AgentSource = z.infer<typeof AgentSource>;

export const RunClock = z.enum(['wall', 'active']);
export type RunClock = z.infer<typeof RunClock>;

/** Everything that defines one run. Frozen in the plan. */
export const RunSpec = z.object({
  id: RunId,
  experiment: ExperimentName,
  task: TaskId,
  /** Hash over the task's files, so that a later change of the task is noticed. */
  task_version: z.string(),
  agent: z.string(),
  /** Absent: it is part of mlab. */
  agent_source: AgentSource.optional(),
  agent_options: AgentOptions,
  /** Of an agent that is no part of this package: the version of its package, or a hash of its files. */
  agent_version: z.string().optional(),
  /** The agent's language model; null for agents that need none. */
  model: z.string().nullable(),
  /** The models of all roles; absent for agents that need none. */
  roles: ModelRoles.optional(),
  /** The run that this one is forked from. */
  parent: RunParent.optional(),
  /** What earlier runs learned, best first; absent where none was asked for. */
  experience: z.array(Lesson).optional(),
  /** A person is there to answer Request Help. */
  interactive: z.boolean().optional(),
  /** Every action waits until a person has decided on it; what they decide lies in the run's folder. */
  approve_later: z.boolean().optional(),
  seed: z.int().min(0),
  limits: Limits,
  sandbox: SandboxDriver,
  /** For the docker driver; absent: the host's own system in an empty image. */
  docker_image: z.string().optional(),
  gpu: z.boolean(),
  /** How many; absent: one, where it has any. */
  gpus: z.int().min(1).optional(),
  /** What counts against the limit of time; absent: `wall`, all of it. `active`: without the time in which models were asked. */
  clock: RunClock.optional(),
  /** Why results of this run are not comparable: unverified data, no sandbox, experience of other runs. */
  marks: z.array(z.string()),
});
export type RunSpec = z.infer<typeof RunSpec>;

/** The first of the marks of runs that another system recorded. */
export const importMark = 'imported from mlagentbench';

/**
 * Whether another system recorded the run: nobody recorded its limits, its sandbox, its seed or whether it had a GPU. What
 * its spec says there is of its grading here, or to tell it from others.
 */
export function isImported({ marks }: Pick<RunSpec, 'marks'>): boolean {
  return marks.includes(importMark);
}

/** `waiting`: nobody works on it until a person has decided on an action. */
export const RunStatus = z.enum(['pending', 'running', 'waiting', 'finished', 'interrupted', 'failed']);
export type RunStatus = z.infer<typeof RunStatus>;

/** What a run of a fleet does now. `starting`: somebody has it, and nothing of it is recorded yet. */
export const RunState = z.enum([
  'queued',
  'starting',
  'running',
  'waiting',
  'finished',
  'interrupted',
  'failed',
]);
export type RunState = z.infer<typeof RunState>;

export const RunPlace = z.object({
  state: RunState,
  /** Host, process and GPUs; of what is queued elsewhere, with whom. Empty where it is nowhere. */
  where: z.string(),
  /** What it waits for, or why it failed. */
  why: z.string(),
});
export type RunPlace = z.infer<typeof RunPlace>;

/** How much a trace held at one moment: a trace that holds less was cut off. */
export const TraceHead = z.object({
  events: z.int().min(0),
  /** SHA-256 in hex of the last line, without its line break; 64 zeros when there is none. */
  hash: z.string().length(64),
});
export type TraceHead = z.infer<typeof TraceHead>;

/** What a run's calls of language models came to. */
export const Spent = z.object({
  calls: z.int().min(0),
  tokens: z.int().min(0),
  /** In US dollars, of the calls whose price is known. */
  money: z.number().min(0),
  /** Calls whose price is not known. */
  unpriced: z.int().min(0),
  /** Of the tokens: in calls that no provider counted as a whole; absent: none. */
  estimated: z.int().min(0).optional(),
});
export type Spent = z.infer<typeof Spent>;

/** What became of GPUs that a run was given. */
export const RunGpus = z.object({
  /** Which, in its last session. */
  uuids: z.array(z.string()),
  /** Of all together, over all sessions: two GPUs for a second are two. */
  held_seconds: z.number().min(0),
  /** In which they computed, by samples; null where nothing told. */
  busy_seconds: z.number().min(0).nullable(),
  /** Of the one with most in use, by samples; null where nothing told. */
  peak_memory_bytes: z.number().min(0).nullable(),
});
export type RunGpus = z.infer<typeof RunGpus>;

/** What a run has done. */
const Use = z.object({ steps: z.int().min(0), seconds_used: z.number().min(0), spent: Spent });

/** `run.json`. */
export const RunRecord = z.object({
  /** 2 of a run that has ended: its trace may be compressed. 3 of one that waits. */
  v: z.union([z.literal(1), z.literal(2), z.literal(3)]),
  spec: RunSpec,
  status: RunStatus,
  /** Null until the run ends. */
  end: z
    .object({
      reason: EndReason,
      message: z.string(),
      /** Of an infrastructure error, where it is known: `quota_exhausted`, `sandbox`, … */
      cause: z.string().optional(),
    })
    .nullable(),
  versions: z.record(z.string(), z.string()),
  host: z.record(z.string(), z.union([z.string(), z.number()])),
  /** Process that works on it, to tell a live run from a killed one. */
  pid: z.int().nullable(),
  started: Time,
  updated: Time,
  steps: z.int().min(0),
  seconds_used: z.number().min(0),
  /** What language models used; absent where none was asked. */
  spent: Spent.optional(),
  /** Of a run that was given GPUs. A session that was killed is missing in it. */
  gpus: RunGpus.optional(),
  /** Of a run that waits: the actions that people are to decide on, and the files of these decisions. */
  waits_for: z
    .array(z.object({ branch: BranchId, step: z.int().min(1), action: z.string(), decision: z.string() }))
    .optional(),
  /** Of the steps, seconds and calls above: those that a branch or a fork shares with the run that it began from. */
  shared: Use.optional(),
  /** The trace when this record was written. Filled in by the store. */
  trace: TraceHead.optional(),
});
export type RunRecord = z.infer<typeof RunRecord>;
