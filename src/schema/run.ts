import { z } from 'zod';
import { EndReason } from './event.ts';
import { ExperimentName, RunId, TaskId } from './ids.ts';
import { Limits } from './limits.ts';

export const SandboxDriver = z.enum(['bubblewrap', 'docker', 'none']);
export type SandboxDriver = z.infer<typeof SandboxDriver>;

export const AgentOptions = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));
export type AgentOptions = z.infer<typeof AgentOptions>;

/** Everything that defines one run. Frozen in the plan. */
export const RunSpec = z.object({
  id: RunId,
  experiment: ExperimentName,
  task: TaskId,
  /** Hash over the task's files, so that a later change of the task is noticed. */
  task_version: z.string(),
  agent: z.string(),
  agent_options: AgentOptions,
  /** Name of the language model; null for agents that need none. */
  model: z.string().nullable(),
  seed: z.int().min(0),
  limits: Limits,
  sandbox: SandboxDriver,
  /** For the docker driver; absent: the host's own system in an empty image. */
  docker_image: z.string().optional(),
  gpu: z.boolean(),
  /** Why results of this run are not comparable: unverified data, no sandbox. */
  marks: z.array(z.string()),
});
export type RunSpec = z.infer<typeof RunSpec>;

export const RunStatus = z.enum(['pending', 'running', 'finished', 'interrupted', 'failed']);
export type RunStatus = z.infer<typeof RunStatus>;

/** How much a trace held at one moment: a trace that holds less was cut off. */
export const TraceHead = z.object({
  events: z.int().min(0),
  /** SHA-256 in hex of the last line, without its line break; 64 zeros when there is none. */
  hash: z.string().length(64),
});
export type TraceHead = z.infer<typeof TraceHead>;

/** `run.json`. */
export const RunRecord = z.object({
  v: z.literal(1),
  spec: RunSpec,
  status: RunStatus,
  /** Null until the run ends. */
  end: z.object({ reason: EndReason, message: z.string() }).nullable(),
  versions: z.record(z.string(), z.string()),
  host: z.record(z.string(), z.union([z.string(), z.number()])),
  /** Process that works on it, to tell a live run from a killed one. */
  pid: z.int().nullable(),
  started: z.int(),
  updated: z.int(),
  steps: z.int().min(0),
  seconds_used: z.number().min(0),
  /** The trace when this record was written. Filled in by the store. */
  trace: TraceHead.optional(),
});
export type RunRecord = z.infer<typeof RunRecord>;
