import type { ExecutorKind } from '../executor-kind.ts';
import { SlurmExecutor } from './slurm-executor.ts';

export const slurm: ExecutorKind = {
  name: 'slurm',
  matches: (on) => on === 'slurm',
  recorded: () => 'slurm',
  open: async (_, place) => new SlurmExecutor(place),
};
