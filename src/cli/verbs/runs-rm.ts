import { UserError } from '../../lib/errors.ts';
import { removeExperiment } from '../../store/index.ts';
import { type Context, exitCodes } from '../context.ts';
import { experimentFolder, locateExperiments } from '../locate.ts';
import { counted, oneLine } from '../table.ts';
import { confirm } from '../terminal-questions.ts';
import type { Verb } from '../verb.ts';

export const runsRm: Verb = {
  arguments: [{ name: '<experiments...>', description: 'experiments, or patterns such as try-*' }],
  flags: [{ flags: '--yes', description: 'remove them without asking' }],
  details:
    'Removes experiments with all that was recorded of their runs. A single run stays with its experiment, so that what\n' +
    'is reported is what was planned; mlab run --incomplete restart and mlab runs retry execute runs again.',
  negative: 'you did not confirm',
  examples: [
    ['mlab runs rm try-1', 'asks, and removes the experiment'],
    ["mlab runs rm 'try-*' --yes", 'all experiments whose name begins with try-, without asking'],
  ],
  async run(context, given, { yes }: { yes?: boolean }) {
    for (const name of given) refuseRun(context, name);
    const experiments = locateExperiments(context, given);
    const text = experiments.map(
      ({ plan, folder }) => `  ${plan.name} (${counted(plan.runs.length, 'run')}, ${folder})`,
    );
    if (
      yes !== true &&
      !(await confirm(context, `Remove for ever:\n${text.join('\n')}\nRemove?`, 'say --yes'))
    )
      return { text: 'Nothing was removed.', json: { removed: [] }, exitCode: exitCodes.negative };
    for (const experiment of experiments) await removeExperiment(experiment, context.signal);
    return {
      text: `Removed:\n${text.join('\n')}`,
      json: { removed: experiments.map(({ folder }) => folder) },
    };
  },
};

function refuseRun(context: Context, name: string): void {
  if (experimentFolder(context, name) !== null || !name.includes('/')) return;
  throw new UserError(
    'bad_argument',
    `${oneLine(name, 200)} is no experiment.`,
    'Experiments are removed as a whole: name the experiment alone. Runs can be executed again: mlab runs retry --help.',
  );
}
