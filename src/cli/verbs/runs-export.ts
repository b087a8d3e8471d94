import {
  type ChosenRuns,
  type ExportFormat,
  type ExportOptions,
  type ExportTablesOptions,
  exportFormats,
  exportRuns,
  exportTables,
  type TableFormat,
  type TableName,
  tableFormats,
  tableNames,
} from '../../exchange/index.ts';
import { UserError } from '../../lib/errors.ts';
import type { RunFolder } from '../../store/index.ts';
import { type Context, exitCodes, type VerbResult } from '../context.ts';
import { locateRuns, runsArgument } from '../locate.ts';
import { counted } from '../table.ts';
import type { Verb } from '../verb.ts';

interface Options {
  to?: ExportFormat | TableFormat;
  tables?: TableName[];
  out?: string;
}

const formats = [...tableFormats, ...exportFormats];

export const runsExport: Verb = {
  arguments: [runsArgument],
  flags: [
    { flags: '--to <format>', description: formats.join(', '), choices: formats },
    { flags: '--out <folder>', description: 'a new or an empty folder' },
    {
      flags: '--tables <names>',
      description: `of csv and parquet only these: ${tableNames.join(', ')}; default: all`,
      choices: tableNames,
      many: 'commas',
    },
  ],
  details:
    'csv, parquet: a table of runs, of their steps, of their grades and of their calls of language models, a file each.\n' +
    'docs/how-to/analyse-results.md describes the columns. Runs that have not begun are in the table of runs.\n' +
    'jsonl: a file a run, with a line for each step that holds everything of it.\n' +
    'git: a bare repository with a branch for each run and a commit for each step; look into it with git clone.\n' +
    'mlagentbench: the log folders of the original, which mlab runs import reads back.\n' +
    'Repositories that an agent made in its workspace are left out of mlagentbench and git: .git and the like, and what\n' +
    "makes a folder a repository without a working tree. The files are an agent's: run nothing of them outside a sandbox.",
  examples: [
    ['mlab runs export start-1 --to parquet --out tables', 'all runs as tables for pandas, polars or DuckDB'],
    [
      "mlab runs export 'start-*' --to csv --tables runs --out tables",
      'a row for each run of several experiments',
    ],
    [
      'mlab runs export start-1/digits-automl-0 --to git --out digits.git',
      'what each step did to the workspace',
    ],
  ],
  async run(context, names, options: Options) {
    const { to, tables, out } = options;
    if (to === undefined || out === undefined)
      throw new UserError(
        'bad_flag',
        `It must be said ${to === undefined ? 'what' : 'where'} to write.`,
        `Give ${to === undefined ? `one of ${formats.join(', ')}: --to FORMAT` : 'a folder: --out FOLDER'}`,
      );
    const chosen = chosenRuns(context, names);
    const place = { out, onProgress: context.log, signal: context.signal };
    if (to === 'csv' || to === 'parquet') return await writeTables({ ...place, chosen, to, names: tables });
    const folders = runsOfOne(chosen, to, options);
    return await writeRuns({ ...place, folders, to, variables: context.variables });
  },
};

/** The runs that names mean, each once, by experiment. */
function chosenRuns(context: Context, names: readonly string[]): ChosenRuns[] {
  const found = Map.groupBy(locateRuns(context, names), ({ experiment }) => experiment.folder);
  return [...found.values()].flatMap((together) => {
    const [first] = together;
    const folders = together.map(({ folder }) => folder);
    return first === undefined ? [] : { experiment: first.experiment, folders };
  });
}

async function writeTables(options: ExportTablesOptions): Promise<VerbResult> {
  const { folder, rows, unreadable } = await exportTables(options);
  const files = Object.entries(rows).map(
    ([name, count]) => `${name}.${options.to} (${counted(count, 'row')})`,
  );
  const broken =
    unreadable.length === 0 ? [] : [`Left out, as they can't be read: ${unreadable.join(', ')}.`];
  return {
    text: [`Written to ${folder}: ${files.join(', ')}.`, ...broken].join('\n'),
    json: { format: options.to, folder, rows, unreadable },
    exitCode: unreadable.length === 0 ? exitCodes.ok : exitCodes.negative,
  };
}

async function writeRuns(options: ExportOptions): Promise<VerbResult> {
  const { folder, runs } = await exportRuns(options);
  const steps = runs.reduce((sum, run) => sum + run.steps, 0);
  return {
    text: `${counted(runs.length, 'run')} with ${counted(steps, 'step')} written to ${folder}.`,
    json: { format: options.to, folder, runs },
  };
}

/** @throws UserError where something is asked for that only tables can do */
function runsOfOne(chosen: readonly ChosenRuns[], to: ExportFormat, { tables }: Options): RunFolder[] {
  const only = `only ${tableFormats.join(' and ')}`;
  if (tables !== undefined)
    throw new UserError('bad_flag', `--tables with --to ${to}: ${only} have tables.`, 'Leave --tables out.');
  const [first, another] = chosen;
  if (another !== undefined)
    throw new UserError(
      'bad_flag',
      `--to ${to} takes runs of one experiment; ${only} take several.`,
      'Export each experiment into a folder of its own.',
    );
  return [...(first?.folders ?? [])];
}
