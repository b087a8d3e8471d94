import { join } from 'node:path';
import { evaluationsOf } from '../../../evaluation/index.ts';
import { UserError } from '../../../lib/errors.ts';
import type { ReportRun, RunEvaluation, RunSpec } from '../../../schema/index.ts';
import { buildRuns, withoutCopies } from '../../../statistics/index.ts';
import type { Experiment, RunFolder } from '../../../store/index.ts';
import { yieldToSignals } from '../../yield-to-signals.ts';
import { type NewFolder, writeIntoNewFolder } from '../new-folder.ts';
import { type AnyRow, type TableName, tableNames, tables } from './columns.ts';
import { type KnownRun, runRow } from './run-rows.ts';
import { readTraceRows, type TraceRows } from './trace-rows.ts';
import { writeCsv } from './write-csv.ts';

export const tableFormats = ['csv', 'parquet'] as const;
export type TableFormat = (typeof tableFormats)[number];

/** Runs of one experiment. */
export interface ChosenRuns {
  experiment: Experiment;
  folders: readonly RunFolder[];
}

export interface ExportTablesOptions extends NewFolder {
  chosen: readonly ChosenRuns[];
  to: TableFormat;
  /** Default: all. */
  names?: readonly TableName[] | undefined;
}

export interface ExportedTables {
  /** Absolute path. */
  folder: string;
  rows: Partial<Record<TableName, number>>;
  /** Runs whose files are damaged, by experiment and id: they are in no table. */
  unreadable: string[];
}

/** The names of runs by their folders. */
type Unreadable = Map<string, string>;

/**
 * Writes a file for each table, atomically. A run that has not begun has a row in the table of runs.
 * @throws UserError `not_empty`, `part_left`
 */
export async function exportTables(options: ExportTablesOptions): Promise<ExportedTables> {
  const { to, names = tableNames } = options;
  const open = to === 'csv' ? writeCsv : (await import('./write-parquet.ts')).writeParquet;
  const unreadable: Unreadable = new Map();
  const rows: ExportedTables['rows'] = {};
  const folder = await writeIntoNewFolder(options, async (part) => {
    const writers = tableNames
      .filter((name) => names.includes(name))
      .map((name) => ({ name, writer: open(join(part, `${name}.${to}`), tables[name]) }));
    for await (const made of tableRows(names, unreadable, options)) {
      for (const { name, writer } of writers) {
        const more = made[name] ?? [];
        await writer.add(more);
        rows[name] = (rows[name] ?? 0) + more.length;
      }
    }
    for (const { writer } of writers) await writer.finish();
  });
  return { folder, rows, unreadable: [...unreadable.values()] };
}

/**
 * In the memory of one run, beside the figures of all. The table of runs comes last, because it leaves out runs that could
 * not be read.
 */
async function* tableRows(
  names: readonly TableName[],
  unreadable: Unreadable,
  options: ExportTablesOptions,
): AsyncGenerator<Partial<Record<TableName, readonly AnyRow[]>>> {
  const evaluated = await evaluateTogether(options);
  for (const { experiment, folders } of options.chosen) {
    for (const folder of names.some((name) => name !== 'runs') ? folders : []) {
      await yieldToSignals(options.signal);
      const spec = experiment.specOf(folder.id);
      if (spec === null || evaluated.copies.has(`${experiment.name}/${folder.id}`)) continue;
      yield await readableRows(folder, { ...spec, experiment: experiment.name }, unreadable, options);
    }
    if (names.includes('runs')) yield { runs: runRows({ experiment, folders }, evaluated, unreadable) };
  }
}

/** Runs by experiment and id. */
interface Evaluated {
  known: Map<string, Pick<KnownRun, 'evaluation' | 'line'>>;
  /** Those that are in another of the experiments, too. */
  copies: Set<string>;
}

/** As in a report on these experiments: agents have the same names, and copies of runs are left out. */
async function evaluateTogether({
  chosen,
  onProgress: log,
  signal,
}: ExportTablesOptions): Promise<Evaluated> {
  const surroundings = { log, signal, allCores: true, withBranches: true };
  const found = await evaluationsOf(
    surroundings,
    chosen.map(({ experiment }) => experiment),
  );
  const { evaluations, copies } = withoutCopies(found.evaluations);
  for (const { experiment, of, runs } of copies)
    log(`${experiment}: left out, as copies of runs in ${of}: ${runs.join(', ')}`);
  const nameOf = ({ experiment, run }: { experiment: string; run: string }) => `${experiment}/${run}`;
  const evaluationOf = new Map(evaluations.map((evaluation) => [nameOf(evaluation), evaluation]));
  const known = buildRuns(evaluations).flatMap(
    (line): [string, { evaluation: RunEvaluation; line: ReportRun }][] => {
      const evaluation = evaluationOf.get(nameOf(line));
      return evaluation === undefined ? [] : [[nameOf(line), { evaluation, line }]];
    },
  );
  const copied = copies.flatMap(({ experiment, runs }) => runs.map((run) => nameOf({ experiment, run })));
  return { known: new Map(known), copies: new Set(copied) };
}

/** None if its files are damaged. */
async function readableRows(
  folder: RunFolder,
  spec: RunSpec,
  unreadable: Unreadable,
  { onProgress, signal }: ExportTablesOptions,
): Promise<Partial<TraceRows>> {
  try {
    const rows = await readTraceRows(folder, spec, signal);
    onProgress(`${folder.id}: ${rows.steps.length} steps`);
    return rows;
  } catch (error) {
    if (!UserError.isInstance(error)) throw error;
    const name = `${spec.experiment}/${folder.id}`;
    unreadable.set(folder.folder, name);
    onProgress(`${name} can't be read and is left out: ${error.message}`);
    return {};
  }
}

function runRows({ experiment, folders }: ChosenRuns, { known, copies }: Evaluated, unreadable: Unreadable) {
  return folders.flatMap((folder) => {
    const name = `${experiment.name}/${folder.id}`;
    if (copies.has(name)) return [];
    const figures = known.get(name);
    if (figures === undefined) unreadable.set(folder.folder, name);
    if (figures === undefined || unreadable.has(folder.folder)) return [];
    const record = folder.readRecord();
    const spec = record?.spec ?? experiment.specOf(folder.id);
    return spec === null ? [] : [runRow({ spec, record, ...figures })];
  });
}
