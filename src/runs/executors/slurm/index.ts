import type { ExecutorKind } from '../executor-kind.ts';
import { checkNode } from './node-checks.ts';
import { SlurmExecutor } from './slurm-executor.ts';

export const slurm: ExecutorKind = {
  name: 'slurm',
  matches: (on) => on === 'slurm',
  recorded: () => 'slurm',
  check: checkNode,
  open: (_, place) => SlurmExecutor.open(place),
};
