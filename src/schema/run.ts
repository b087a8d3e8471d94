import { z } from 'zod';
import { withCaveats } from './caveats.ts';
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

/** The origin of an agent that is not part of mlab. */
export const AgentSource = z.strictObject({
  /** Absolute path of its module. */
  path: z.string(),
  /** SHA-256 in hex over the file and its imports; for Python, those in its own folder. */
  sha256: z.string().length(64),
  /** For a module of an npm package: name@version, and npm's integrity if its lock has it. */
  package: z.string().optional(),
  /** Which the agent gives itself. */
  version: z.string().optional(),
});
export type AgentSource = z.infer<typeof AgentSource>;

export const RunClock = z.enum(['wall', 'active']);
export type RunClock = z.infer<typeof RunClock>;

/** Everything that defines one run. Frozen in the plan. */
export const RunSpec = withCaveats(
  z.object({
    id: RunId,
    experiment: ExperimentName,
    task: TaskId,
    /** Hash over the task's files, to detect later changes of the task. */
    task_version: z.string(),
    agent: z.string(),
    /** Absent: it is part of mlab. */
    agent_source: AgentSource.optional(),
    agent_options: AgentOptions,
    /** For an agent that is not part of this package: the version of its package, or a hash of its files. */
    agent_version: z.string().optional(),
    /** The agent's language model; null for agents without one. */
    model: z.string().nullable(),
    /** The models of all roles; absent for agents without a model. */
    roles: ModelRoles.optional(),
    /** The run that this one is forked from. */
    parent: RunParent.optional(),
    /** Lessons of earlier runs, best first; absent if not requested. */
    experience: z.array(Lesson).optional(),
    /** A person is present to answer Request Help. */
    interactive: z.boolean().optional(),
    /** Every action waits for a person's decision, which is stored in the run's folder. */
    approve_later: z.boolean().optional(),
    seed: z.int().min(0),
    limits: Limits,
    sandbox: SandboxDriver,
    /** For the docker driver; absent: the host's own system in an empty image. */
    docker_image: z.string().optional(),
    gpu: z.boolean(),
    /** How many; absent: one, if it has any. */
    gpus: z.int().min(1).optional(),
    /** What counts against the time limit; absent: `wall`, all time. `active`: without waiting for language models. */
    clock: RunClock.optional(),
    /** Why results of this run are not comparable: unverified data, no sandbox, experience of other runs. */
    caveats: z.array(z.string()),
  }),
);
export type RunSpec = z.infer<typeof RunSpec>;

/** The first caveat of runs that another system recorded. */
export const importCaveat = 'imported from mlagentbench';

/**
 * Whether another system recorded the run. Its limits, its sandbox, its seed and whether it had a GPU are unknown:
 * those fields of its spec concern its grading here, or only distinguish it from other runs.
 */
export function isImported({ caveats }: Pick<RunSpec, 'caveats'>): boolean {
  return caveats.includes(importCaveat);
}

/** `waiting`: no process executes it until a person has decided on an action. */
export const RunStatus = z.enum(['pending', 'running', 'waiting', 'finished', 'interrupted', 'failed']);
export type RunStatus = z.infer<typeof RunStatus>;

/** The state of a run of a fleet. `starting`: a process has it, and nothing is recorded yet. */
export const RunState = z.enum([
  'queued',
  'cancelled',
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
  /** Host, process and GPUs; for runs queued elsewhere, the executor. Empty if it is nowhere. */
  where: z.string(),
  /** What it waits for, or why it failed. */
  why: z.string(),
});
export type RunPlace = z.infer<typeof RunPlace>;

/** The length of a trace at one moment: a shorter trace was cut off. */
export const TraceHead = z.object({
  events: z.int().min(0),
  /** SHA-256 in hex of the last line, without its line break; 64 zeros if there is none. */
  hash: z.string().length(64),
});
export type TraceHead = z.infer<typeof TraceHead>;

/** The use of language models by a run. */
export const Spent = z.object({
  calls: z.int().min(0),
  tokens: z.int().min(0),
  /** In US dollars, of the calls with a known price. */
  money: z.number().min(0),
  /** Calls with an unknown price. */
  unpriced: z.int().min(0),
  /** How many of the tokens are from calls for which the provider gave no full counts; absent: none. */
  estimated: z.int().min(0).optional(),
});
export type Spent = z.infer<typeof Spent>;

/** The use of the GPUs that a run got. */
export const RunGpus = z.object({
  /** The GPUs of its last session. */
  uuids: z.array(z.string()),
  /** Over all GPUs and sessions: two GPUs for one second are two. */
  held_seconds: z.number().min(0),
  /** Time in which they computed, by samples; null if not available. */
  busy_seconds: z.number().min(0).nullable(),
  /** Of the GPU with most memory in use, by samples; null if not available. */
  peak_memory_bytes: z.number().min(0).nullable(),
});
export type RunGpus = z.infer<typeof RunGpus>;

/** How much a run has used. */
const Use = z.object({ steps: z.int().min(0), seconds_used: z.number().min(0), spent: Spent });

/** `run.json`. */
export const RunRecord = z.object({
  /** 2 for a run that has ended: its trace may be compressed. 3 for one that waits. */
  v: z.union([z.literal(1), z.literal(2), z.literal(3)]),
  spec: RunSpec,
  status: RunStatus,
  /** Null until the run ends. */
  end: z
    .object({
      reason: EndReason,
      message: z.string(),
      /** Of an infrastructure error, if known: `quota_exhausted`, `sandbox`, … */
      cause: z.string().optional(),
    })
    .nullable(),
  versions: z.record(z.string(), z.string()),
  host: z.record(z.string(), z.union([z.string(), z.number()])),
  /** The process that executes it, to distinguish a live run from a killed one. */
  pid: z.int().nullable(),
  started: Time,
  updated: Time,
  steps: z.int().min(0),
  seconds_used: z.number().min(0),
  /** What language models used; absent if none was called. */
  spent: Spent.optional(),
  /** For a run that got GPUs. Sessions that were killed are missing. */
  gpus: RunGpus.optional(),
  /** For a run that waits: the actions to decide on, and the files of the decisions. */
  waits_for: z
    .array(z.object({ branch: BranchId, step: z.int().min(1), action: z.string(), decision: z.string() }))
    .optional(),
  /** The part of the steps, seconds and calls above that a branch or a fork shares with the run it began from. */
  shared: Use.optional(),
  /** The trace when this record was written. Filled in by the store. */
  trace: TraceHead.optional(),
});
export type RunRecord = z.infer<typeof RunRecord>;
