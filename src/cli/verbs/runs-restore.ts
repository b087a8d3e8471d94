import { resolve } from 'node:path';
import { UserError } from '../../lib/errors.ts';
import { makeWholeFolder, refuseOccupied } from '../../lib/whole-folder.ts';
import { restoreSnapshot, showPath } from '../../store/index.ts';
import { locateRun, stepArgument } from '../locate.ts';
import { snapshotOfStep } from '../run-steps.ts';
import type { Verb } from '../verb.ts';

interface Options {
  withRepositories?: boolean;
}

const maxListed = 10;

export const runsRestore: Verb = {
  arguments: [
    stepArgument,
    { name: '[step]', description: 'a step, 0 for the starter, or last; leave it out after RUN@STEP' },
    { name: '[folder]', description: 'a new or empty folder' },
  ],
  flags: [
    {
      flags: '--with-repositories',
      description: 'also restore .git and the like; git executes what their settings and hooks say',
    },
  ],
  details:
    'An agent wrote these files: do not run them outside a sandbox. Repositories of git, hg and jj (.git and the like, and\n' +
    'HEAD, config and hooks of bare repositories) are left out, because these programs, and shells that show their state,\n' +
    'execute what the settings and hooks in them say.',
  examples: [
    ['mlab runs restore start-1/digits-automl-0@7 /tmp/step-7', 'the workspace as it was after step 7'],
  ],
  async run(context, [given = '', ...rest], { withRepositories = false }: Options) {
    const { folder, step: named } = locateRun(context, given, { withSteps: true });
    const [step, target, more] = named === null ? rest : [named, ...rest];
    if (step === undefined || target === undefined || more !== undefined)
      throw new UserError(
        'usage',
        named === null && rest.length < 2
          ? 'The step and the folder are missing.'
          : 'Give one folder, and nothing after it.',
        `For example: mlab runs restore ${given.replace(/@.*/, '')}@last workspace`,
      );
    const { number, snapshot, isEnd } = snapshotOfStep(folder, step);
    const place = resolve(target);
    refuseOccupied(place);
    const { signal } = context;
    const { leftOut } = await makeWholeFolder(place, signal, (part) =>
      restoreSnapshot(folder.objects, snapshot, part, { withoutRepositories: !withRepositories, signal }),
    );
    const lines = [
      `The workspace ${isEnd ? 'at the end of the run' : `after step ${number}`} is in ${place}.`,
      ...(leftOut.length === 0 ? [] : [leftOutText(leftOut)]),
      withRepositories
        ? 'An agent wrote these files: git, and shells that call it, execute what their repositories say.'
        : 'An agent wrote these files: do not run them outside a sandbox.',
    ];
    return {
      text: lines.join('\n'),
      json: { step: number, snapshot, folder: place, left_out: leftOut },
    };
  },
};

function leftOutText(paths: readonly string[]): string {
  const more = paths.length > maxListed ? ` and ${paths.length - maxListed} more` : '';
  const names = paths.slice(0, maxListed).map(showPath).join(', ');
  return `Left out, because git would run what they say: ${names}${more}. --with-repositories keeps them.`;
}
