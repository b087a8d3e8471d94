import { setTimeout as sleep } from 'node:timers/promises';
import { isWaiting } from '../arrays/job-state.ts';
import { WaveFolder } from '../arrays/wave.ts';
import { SlurmCommands } from './slurm-commands.ts';
import { folderName } from './slurm-scheduler.ts';

/** Whoever lists runs does not wait for a controller that is down. */
const patienceMs = 5_000;

/**
 * Why runs wait in Slurm's queue, by their ids: `Slurm 12_3 (Resources)`. Empty where Slurm can't be asked.
 * @param experiment its folder
 */
export async function waitingJobs(
  experiment: string,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<ReadonlyMap<string, string>> {
  const reasons = new Map<string, string>();
  const waves = new WaveFolder(experiment, folderName).read();
  if (waves.length === 0) return reasons;
  const asked = new SlurmCommands(variables).queue().catch(() => null);
  const states = await Promise.race([asked, sleep(patienceMs, null, { ref: false })]);
  for (const { id, name, jobs } of waves)
    for (const [index, { kind, run }] of jobs.entries()) {
      const state = states?.get(`${id}_${index}`);
      if (kind !== 'run' || state?.name !== name || !isWaiting(state)) continue;
      reasons.set(run, `Slurm ${id}_${index}${state.reason === '' ? '' : ` (${state.reason})`}`);
    }
  return reasons;
}
