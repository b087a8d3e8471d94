import { z } from 'zod';

/** One environment step, or one low-level step, of a run of the original benchmark. */
export const OriginalStep = z.object({
  action: z.object({ name: z.string().max(1000), args: z.json() }),
  observation: z.string(),
  /** When it ended, seconds since 1970. */
  timestamp: z.number().min(0).max(1e11),
});
export type OriginalStep = z.infer<typeof OriginalStep>;

/** The purpose of a model call: the next action, a summary, or something inside an action. */
export const OriginalRole = z.enum(['agent', 'summary', 'summarize_observation', 'tool']);
export type OriginalRole = z.infer<typeof OriginalRole>;

const count = z.coerce.number().pipe(z.int().min(0)).catch(0);

/** One call of a language model. */
export const OriginalCall = z.object({
  role: OriginalRole,
  /** For the agent's own calls: its step, from 0, by the agent's count. */
  agent_step: z.int().min(0).optional(),
  /** For calls inside actions: the environment's step, from 0. */
  env_step: z.int().min(0).optional(),
  prompt: z.string(),
  completion: z.string(),
  model: z.string().max(10_000),
  max_tokens: count,
  prompt_tokens: count,
  sampled_tokens: count,
});
export type OriginalCall = z.infer<typeof OriginalCall>;

/** One file of one workspace as the original recorded it. */
export interface OriginalFile {
  path: string;
  bytes: number;
  /** SHA-256 in hex: all of it, or its first 16 digits. */
  hash: string;
  /** The path of its content; null if only the listing mentions it. */
  source: string | null;
}

/** A run of the original benchmark, as far as it could be read. It is not interpreted yet. */
export interface OriginalRun {
  /** The folder that it was read from. */
  folder: string;
  task: string;
  model: string;
  /** The name of the run within its task and model. */
  run: string;
  /** The agent's problem text; empty if it is lost. */
  problem: string;
  steps: OriginalStep[];
  innerSteps: OriginalStep[];
  calls: OriginalCall[];
  /** Wall time of the whole run in seconds; null if it is not recorded, because the run was killed. */
  seconds: number | null;
  /** The stack of the exception that ended it. */
  error: string | null;
  /** The workspace after the steps 0, 1, … and at the end (`final`). */
  snapshots: ReadonlyMap<number | 'final', OriginalFile[]>;
  /** Files with contents that are in no listing. */
  contents: string[];
  /** What is missing, cut off or unreadable, in a few words each. */
  gaps: string[];
  /** Those of them that concern workspaces of a log folder. */
  workspaceGaps: readonly string[];
}

/** Whether the trace was not read to its end, so that later steps are unknown. */
export function hasLostTrace(gaps: readonly string[]): boolean {
  return gaps.some((gap) => /trace/.test(gap));
}

/** Some libraries wrote a description of themselves where a log should have the model's name. */
export function isModelName(text: string): boolean {
  return /^[\w./:-]{1,200}$/.test(text);
}

/** The agent's own entry in its research log, made after each of its steps; the number is the agent's. */
export function ownLogEntry({ action }: OriginalStep): number | null {
  if (action.name !== 'Append Summary to Research Log') return null;
  const args = z.object({ content: z.string() }).safeParse(action.args);
  const number = args.success ? /^\n\nStep (\d{1,9}):\n/.exec(args.data.content)?.[1] : undefined;
  return number === undefined ? null : Number(number);
}

/** The agent's own lookup in its research log, before it calls its model. */
export function isOwnRecall({ action }: OriginalStep): boolean {
  if (action.name !== 'Retrieval from Research Log') return false;
  return z.object({ current_plan: z.literal('') }).safeParse(action.args).success;
}
