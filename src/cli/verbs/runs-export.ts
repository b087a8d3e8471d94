import { type ExportFormat, exportFormats, exportRuns } from '../../exchange/index.ts';
import { UserError } from '../../lib/errors.ts';
import { locateRuns } from '../locate.ts';
import { counted } from '../table.ts';
import type { Verb } from '../verb.ts';

interface Options {
  to?: ExportFormat;
  out?: string;
}

export const runsExport: Verb = {
  arguments: [{ name: '<run>', description: 'EXPERIMENT/RUN, or an experiment for all its runs' }],
  flags: [
    { flags: '--to <format>', description: exportFormats.join(', '), choices: exportFormats },
    { flags: '--out <folder>', description: 'a new or an empty folder' },
  ],
  details:
    'mlagentbench: the log folders of the original, which mlab runs import reads back.\n' +
    'jsonl: a file a run, with a line for each step that holds everything of it.\n' +
    'csv: steps.csv with a row for each step, runs.csv with a row for each run.\n' +
    'git: a bare repository with a branch for each run and a commit for each step; look into it with git clone.\n' +
    'Repositories that an agent made in its workspace are left out of mlagentbench and git: .git and the like, and what\n' +
    "makes a folder a repository without a working tree. The files are an agent's: run nothing of them outside a sandbox.",
  examples: [
    ['mlab runs export start-1 --to csv --out tables', 'all runs as tables'],
    [
      'mlab runs export start-1/digits-automl-0 --to git --out digits.git',
      'what each step did to the workspace',
    ],
  ],
  async run(context, [given = ''], options: Options) {
    const { to, out } = options;
    if (to === undefined || out === undefined)
      throw new UserError(
        'bad_flag',
        `It must be said ${to === undefined ? 'what' : 'where'} to write.`,
        `Give ${to === undefined ? `one of ${exportFormats.join(', ')}: --to FORMAT` : 'a folder: --out FOLDER'}`,
      );
    const { folders } = locateRuns(context, given);
    const { folder, runs } = await exportRuns({
      ...{ folders, to, out, variables: context.variables },
      ...{ onProgress: context.log, signal: context.signal },
    });
    const steps = runs.reduce((sum, run) => sum + run.steps, 0);
    return {
      text: `${counted(runs.length, 'run')} with ${counted(steps, 'step')} written to ${folder}.`,
      json: { format: to, folder, runs },
    };
  },
};
