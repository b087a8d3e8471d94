import {
  type ChosenRuns,
  type ExportFormat,
  type ExportTablesOptions,
  exportFormats,
  exportRuns,
  exportTables,
  type RunExportOptions,
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
    { flags: '--out <folder>', description: 'a new or empty folder' },
    {
      flags: '--tables <names>',
      description: `csv and parquet: only these tables: ${tableNames.join(', ')}; default: all`,
      choices: tableNames,
      many: 'commas',
    },
  ],
  details:
    'csv, parquet: one file each for runs, steps, grades and model calls; docs/how-to/analyse-results.md describes the\n' +
    'columns. Runs that have not started are in the table of runs.\n' +
    'jsonl: one file per run with one line per step.\n' +
    'git: a bare repository with one branch per run and one commit per step; open it with git clone.\n' +
    'mlagentbench: log folders as the original writes them; mlab runs import reads them.\n' +
    'The formats mlagentbench and git leave out repositories that an agent created in its workspace, bare ones, too. An\n' +
    'agent wrote these files: do not run them outside a sandbox.',
  negative: 'a run could not be read; it is named and left out',
  examples: [
    ['mlab runs export start-1 --to parquet --out tables', 'all runs as tables for pandas, polars or DuckDB'],
    [
      "mlab runs export 'start-*' --to csv --tables runs --out tables",
      'one row per run of several experiments',
    ],
    [
      'mlab runs export start-1/digits-automl-0 --to git --out digits.git',
      'a repository with one commit per step',
    ],
  ],
  async run(context, names, options: Options) {
    const { to, tables, out } = options;
    if (to === undefined || out === undefined)
      throw new UserError(
        'bad_flag',
        `${to === undefined ? '--to' : '--out'} is missing.`,
        `Give ${to === undefined ? `one of ${formats.join(', ')}: --to FORMAT` : 'a folder: --out FOLDER'}`,
      );
    const chosen = chosenRuns(context, names);
    const place = { out, onProgress: context.log, signal: context.signal };
    if (to === 'csv' || to === 'parquet') return await writeTables({ ...place, chosen, to, names: tables });
    const folders = runsOfOne(chosen, to, options);
    return await writeRuns({ ...place, folders, to, variables: context.variables });
  },
};

/** The runs that names refer to, each once, by experiment. */
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
  return {
    text: `Written to ${folder}: ${files.join(', ')}.${leftOutText(unreadable)}`,
    json: { format: options.to, folder, rows, unreadable },
    exitCode: unreadable.length === 0 ? exitCodes.ok : exitCodes.negative,
  };
}

function leftOutText(unreadable: readonly string[]): string {
  return unreadable.length === 0 ? '' : `\nLeft out because they can't be read: ${unreadable.join(', ')}.`;
}

async function writeRuns(options: RunExportOptions): Promise<VerbResult> {
  const { folder, runs, unreadable } = await exportRuns(options);
  const steps = runs.reduce((sum, run) => sum + run.steps, 0);
  return {
    text: `${counted(runs.length, 'run')} with ${counted(steps, 'step')} written to ${folder}.${leftOutText(unreadable)}`,
    json: { format: options.to, folder, runs, unreadable },
    exitCode: unreadable.length === 0 ? exitCodes.ok : exitCodes.negative,
  };
}

/** @throws UserError if an option was given that only tables support */
function runsOfOne(chosen: readonly ChosenRuns[], to: ExportFormat, { tables }: Options): RunFolder[] {
  const only = `only ${tableFormats.join(' and ')}`;
  if (tables !== undefined)
    throw new UserError('bad_flag', `--tables with --to ${to}: ${only} have tables.`, 'Leave out --tables.');
  const [first, another] = chosen;
  if (another !== undefined)
    throw new UserError(
      'bad_flag',
      `--to ${to} takes runs of one experiment; ${only} take several.`,
      'Export each experiment into a folder of its own.',
    );
  return [...(first?.folders ?? [])];
}
