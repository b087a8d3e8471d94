import { type ImportedRun, importOriginalRuns } from '../../exchange/index.ts';
import { UserError } from '../../lib/errors.ts';
import { SandboxDriver } from '../../schema/index.ts';
import { counted, oneLine, table } from '../table.ts';
import type { Verb } from '../verb.ts';

interface Options {
  from?: string;
  name?: string;
  sandbox: string;
}

export const runsImport: Verb = {
  arguments: [{ name: '<folders...>', description: 'folders that contain runs, at any depth' }],
  flags: [
    { flags: '--from <format>', description: 'format of the runs: mlagentbench' },
    { flags: '--name <name>', description: 'name of the experiment; default: derived from the first folder' },
    {
      flags: '--sandbox <driver>',
      description: 'sandbox for the graders of these runs: bubblewrap, docker or none',
      default: 'bubblewrap',
    },
  ],
  details:
    'Reads log folders of the original MLAgentBench (agent_log/, env_log/), and its runs in packed form (meta.json,\n' +
    'calls.jsonl.gz, trace.json.gz, snapshots.tsv.gz, final_files/). Missing or damaged parts are left out and noted on the\n' +
    'run. Importing the same recordings again changes nothing.',
  examples: [
    ['mlab runs import --from mlagentbench logs/house-price', 'import all runs below a folder'],
    [
      'mlab runs import --from mlagentbench single_exp_logs --name originals',
      'import them as the experiment "originals"',
    ],
  ],
  async run(context, folders, options: Options) {
    if (options.from !== 'mlagentbench') {
      const given =
        options.from === undefined
          ? 'The format of the runs is missing.'
          : `--from ${options.from}: not a valid choice.`;
      throw new UserError('bad_flag', given, 'Use --from mlagentbench.');
    }
    if (folders.length === 0)
      throw new UserError('usage', 'Name a folder with runs.', 'mlab runs import --help shows how.');
    const { experiment, runs } = await importOriginalRuns({
      ...{ folders, name: options.name, experiments: context.folders.experiments },
      ...{ taskFolders: context.folders.tasks, sandbox: driverOf(options.sandbox), version: context.version },
      ...{ onProgress: context.log, signal: context.signal },
    });
    const { name } = experiment;
    return {
      text: `${runsTable(runs)}\n\n${summary(runs, name)}`,
      json: { experiment: name, folder: experiment.folder, runs },
    };
  },
};

function driverOf(given: string): SandboxDriver {
  const driver = SandboxDriver.safeParse(given);
  if (driver.success) return driver.data;
  throw new UserError(
    'bad_flag',
    `--sandbox ${given}: not a valid choice.`,
    `Use ${SandboxDriver.options.join(', ')}.`,
  );
}

function runsTable(runs: readonly ImportedRun[]): string {
  const right = 'right' as const;
  const columns = [
    { title: 'run' },
    { title: 'steps', align: right },
    { title: 'calls', align: right },
    { title: '' },
    { title: 'what is missing' },
  ];
  const rows = runs.map(({ run, steps, model_calls, state, known_task, caveats }) => [
    run,
    String(steps),
    String(model_calls),
    state,
    oneLine(
      [
        ...(known_task ? [] : ['unknown task: cannot be graded']),
        ...caveats.slice(1).map((caveat) => caveat.replace(/^partial: /, '')),
      ].join('; '),
      300,
    ),
  ]);
  return table(columns, rows);
}

function summary(runs: readonly ImportedRun[], experiment: string): string {
  const fresh = runs.filter(({ state }) => state === 'imported').length;
  const again = runs.length - fresh;
  return [
    `${counted(fresh, 'run')} imported into ${experiment}${again > 0 ? `; ${again} were there already` : ''}.`,
    `List them with: mlab runs ls ${experiment}`,
  ].join('\n');
}
