import { z } from 'zod';
import { parseShallowJson } from '../../../lib/shallow-json.ts';
import { indicesOf } from '../arrays/indices.ts';
import type { JobStates } from '../arrays/job-state.ts';

/** Plain up to Slurm 22.05; later an object, so that a number may be missing or infinite. */
const FlexibleNumber = z
  .union([z.number(), z.object({ set: z.boolean().default(true), number: z.number() }), z.null()])
  .transform((value) => (typeof value === 'object' ? (value?.set === true ? value.number : null) : value));

/** One word up to Slurm 23.02; later the base state, then flags such as COMPLETING. */
const FlexibleState = z
  .union([z.string(), z.array(z.string()).min(1)])
  .transform((value) => (typeof value === 'string' ? value : (value[0] ?? '')));

/** The fields that are read of a job in `squeue --json`, with the keys of data_parser v0.0.38 to v0.0.42. */
const QueuedJob = z.object({
  array_job_id: FlexibleNumber.optional(),
  array_task_id: FlexibleNumber.optional(),
  array_task_string: z.string().nullish(),
  job_state: FlexibleState,
  state_reason: z.string().nullish(),
  nodes: z.string().nullish(),
  name: z.string().nullish(),
  restart_cnt: z.number().nullish(),
});
const Queue = z.object({ jobs: z.array(QueuedJob) });

/** The fields that are read of a job in `sacct --json`. */
const AccountedJob = z.object({
  array: z.object({ job_id: FlexibleNumber.optional(), task_id: FlexibleNumber.optional() }),
  state: z.object({ current: FlexibleState, reason: z.string().nullish() }),
  nodes: z.string().nullish(),
  name: z.string().nullish(),
  restart_cnt: z.number().nullish(),
});
const Accounting = z.object({ jobs: z.array(AccountedJob) });

/**
 * @param text of `squeue --json`
 * @throws ZodError, SyntaxError
 */
export function parseQueue(text: string): JobStates {
  const states: JobStates = new Map();
  for (const job of Queue.parse(parseShallowJson(text)).jobs) {
    const array = job.array_job_id;
    if (array === null || array === undefined || array === 0) continue;
    const waiting = job.array_task_string ?? '';
    const single = job.array_task_id ?? null;
    const indices = waiting === '' ? (single === null ? [] : [single]) : indicesOf(waiting);
    const { name, nodes, state_reason: reason, restart_cnt: restarts } = job;
    const state = {
      ...{ state: job.job_state, reason: wordOf(reason), nodes: wordOf(nodes) },
      ...{ restarts: restarts ?? 0, name: name ?? '' },
    };
    for (const index of indices) states.set(`${array}_${index}`, state);
  }
  return states;
}

/**
 * @param text of `sacct --json`
 * @throws ZodError, SyntaxError
 */
export function parseAccounting(text: string): JobStates {
  const states: JobStates = new Map();
  for (const { array, state, nodes, name, restart_cnt: restarts } of Accounting.parse(parseShallowJson(text))
    .jobs) {
    const { job_id: id, task_id: index } = array;
    if (id === null || id === undefined || index === null || index === undefined) continue;
    const { current, reason } = state;
    const facts = { reason: wordOf(reason), nodes: wordOf(nodes), restarts: restarts ?? 0, name: name ?? '' };
    states.set(`${id}_${index}`, { state: current, ...facts });
  }
  return states;
}

function wordOf(text: string | null | undefined): string {
  return text === undefined || text === null || text === 'None' ? '' : text;
}
