import { GpuLeases, gpusOf, type HeldGpus } from '../runs/index.ts';
import type { RunSpec } from '../schema/index.ts';
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

/** @throws UserError `no_gpu` */
export async function leaseGpus(context: Context, count: number, forWhat: string): Promise<HeldGpus> {
  const leases = await GpuLeases.find(context.variables);
  const onWait = (reason: string) => context.log(`${forWhat}: waits for ${reason}`);
  return await leases.lease(count, { signal: context.signal, onWait });
}
