import { removeExperiment } from '../../store/index.ts';
import { exitCodes } from '../context.ts';
import { locateExperiments, refuseRun } from '../locate.ts';
import { counted } from '../table.ts';
import { confirm } from '../terminal-questions.ts';
import type { Verb } from '../verb.ts';

export const runsRm: Verb = {
  arguments: [{ name: '<experiments...>', description: 'experiments, or patterns such as try-*' }],
  flags: [{ flags: '--yes', description: 'delete without asking for confirmation' }],
  details:
    'Deletes experiments with everything that was recorded of their runs. Single runs cannot be deleted, so that a report\n' +
    'always covers all planned runs; mlab run --incomplete restart and mlab runs retry rerun them.',
  negative: 'you did not confirm',
  examples: [
    ['mlab runs rm try-1', 'delete one experiment, after a confirmation'],
    ["mlab runs rm 'try-*' --yes", 'delete all experiments that match, without a confirmation'],
  ],
  async run(context, given, { yes }: { yes?: boolean }) {
    for (const name of given) refuseRun(context, name, 'deleted');
    const experiments = locateExperiments(context, given);
    const text = experiments.map(
      ({ name, plan, folder }) => `  ${name} (${counted(plan.runs.length, 'run')}, ${folder})`,
    );
    if (
      yes !== true &&
      !(await confirm(context, `This deletes for good:\n${text.join('\n')}\nDelete?`, 'use --yes'))
    )
      return { text: 'Nothing was deleted.', json: { removed: [] }, exitCode: exitCodes.negative };
    for (const experiment of experiments) await removeExperiment(experiment, context.signal);
    return {
      text: `Deleted:\n${text.join('\n')}`,
      json: { removed: experiments.map(({ folder }) => folder) },
    };
  },
};
