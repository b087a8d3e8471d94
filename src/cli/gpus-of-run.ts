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
  if (count === 0) return undefined;
  const leases = await GpuLeases.find(context.variables);
  const onWait = (reason: string) => context.log(`${run.id}: waits for ${reason}`);
  return await leases.lease(count, { signal: context.signal, onWait });
}
