import { SlurmSettings } from '../../../schema/index.ts';
import { ArrayExecutor } from '../arrays/array-executor.ts';
import type { ExecutorKind } from '../executor-kind.ts';
import { checkNode } from './node-checks.ts';
import { plannedScript } from './planned-script.ts';
import { SlurmCommands } from './slurm-commands.ts';
import { SlurmScheduler } from './slurm-scheduler.ts';

export const slurm: ExecutorKind = {
  name: 'slurm',
  matches: (on) => on === 'slurm',
  recorded: () => 'slurm',
  limitHint: ({ slurm: settings }) =>
    settings?.gateway_on === 'submit'
      ? null
      : 'Add --gateway-on submit, which counts the calls of all nodes, or limit each run: --money, --tokens.',
  ready: (_, { variables }) => new SlurmCommands(variables).checkInstalled(),
  documents: async (place) => [await plannedScript(place, place.settings.slurm ?? SlurmSettings.parse({}))],
  check: (_, place) => checkNode(place),
  open: async (_, place) => new ArrayExecutor(place, await SlurmScheduler.open(place)),
};
