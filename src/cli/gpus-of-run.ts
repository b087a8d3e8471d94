import { UserError } from '../lib/errors.ts';
import { GpuLeases, gpusOf, type HeldGpus } from '../runs/index.ts';
import type { RunSpec } from '../schema/index.ts';
import type { Task } from '../tasks/index.ts';
import type { Context } from './context.ts';

/** For the services of an experiment; undefined if no run needs a GPU, so that none are looked up. */
export async function gpusFor(
  { variables }: Context,
  runs: readonly RunSpec[],
): Promise<{ gpus?: GpuLeases }> {
  return runs.some(({ gpu }) => gpu) ? { gpus: await GpuLeases.find(variables) } : {};
}

/** As many GPUs as the run had, for work on its results; undefined if it had none. */
export async function leaseGpusOf(context: Context, run: RunSpec): Promise<HeldGpus | undefined> {
  const count = gpusOf(run);
  return count === 0 ? undefined : await leaseGpus(context, count, run.id);
}

/**
 * A GPU for work on a task, if it is asked for or the task requires one.
 * @throws UserError `bad_flag` if it is asked for and the task uses none; `no_gpu`
 */
export async function leaseGpuFor(
  context: Context,
  { file: { id, resources } }: Task,
  isWanted: boolean | undefined,
): Promise<HeldGpus | undefined> {
  if (isWanted !== true && resources.gpu !== 'required') return undefined;
  if (resources.gpu !== 'none') return await leaseGpus(context, 1, id);
  throw new UserError(
    'bad_flag',
    `--gpu: the task ${id} uses no GPU.`,
    'Leave the flag out, or set resources.gpu in its task.yaml to optional.',
  );
}

async function leaseGpus(context: Context, count: number, forWhat: string): Promise<HeldGpus> {
  const leases = await GpuLeases.find(context.variables);
  const onWait = (reason: string) => context.log(`${forWhat}: waits for ${reason}`);
  return await leases.lease(count, { signal: context.signal, onWait });
}
