import { createHash } from 'node:crypto';
import { basename, join, resolve } from 'node:path';
import { UserError } from '../../lib/errors.ts';
import {
  defaultLimits,
  ExperimentName,
  type Plan,
  RunId,
  type RunRecord,
  type RunSpec,
  type SandboxDriver,
  TaskId,
} from '../../schema/index.ts';
import { createExperiment, type Experiment, readTraceSync, spentOf } from '../../store/index.ts';
import { loadTask, type Task } from '../../tasks/index.ts';
import { type FoundRun, findOriginalRuns } from '../original/find-runs.ts';
import type { OriginalRun } from '../original/original-run.ts';
import { slug, taskIdOf } from '../task-names.ts';
import { yieldToSignals } from '../yield-to-signals.ts';
import { modelNameOf } from './call-event.ts';
import { caveatsOf } from './caveats.ts';
import { KnownContents } from './known-contents.ts';
import { OriginalRuns } from './original-runs.ts';
import { ImportClock } from './recorded-time.ts';
import { writeRun } from './run-writer.ts';
import { Workspaces } from './workspaces.ts';

export interface ImportOptions {
  /** Each contains one or many runs, at any depth. */
  folders: readonly string[];
  /** The name of the experiment; default: derived from the first folder's name. */
  name?: string | undefined;
  /** The folder of experiments. */
  experiments: string;
  /** Folders of our own tasks. */
  taskFolders: readonly string[];
  /** How graders of these runs are confined. */
  sandbox: SandboxDriver;
  /** The version of mlab, for the plan. */
  version: string;
  onProgress: (message: string) => void;
  signal: AbortSignal;
}

export interface ImportedRun {
  run: RunId;
  task: TaskId;
  /** Whether this task is known here; otherwise the run can't be graded. */
  known_task: boolean;
  folder: string;
  steps: number;
  model_calls: number;
  /** `there already`: an earlier import wrote the same. */
  state: 'imported' | 'there already';
  caveats: string[];
}

export interface ImportResult {
  experiment: Experiment;
  runs: ImportedRun[];
}

/**
 * Imports runs of the original benchmark as an experiment. The same recordings give the same traces, byte for byte; the
 * result of an earlier, perhaps interrupted, import is kept.
 * @throws UserError `no_folder`, `no_runs`, `too_much_to_import`, `bad_name`, `plan_differs`, `import_differs`
 */
export async function importOriginalRuns(options: ImportOptions): Promise<ImportResult> {
  const { onProgress, signal, taskFolders } = options;
  const runs = new OriginalRuns(await findOriginalRuns(options.folders, signal), signal);
  const name = experimentName(options);
  const contents = new KnownContents();
  const facts: RunFacts[] = [];
  for (const one of runs.found) {
    await yieldToSignals(signal);
    const run = await runs.read(one);
    for (const listing of run.snapshots.values()) contents.want(listing);
    facts.push(factsOf(run, one));
    if (facts.length % 50 === 0) onProgress(`${facts.length} of ${runs.found.length} runs read`);
  }
  const tasks = tasksOf(facts, taskFolders);
  if (contents.isWanting) await offerContents(contents, runs, tasks, signal);
  const planned: PlannedImport[] = [];
  for (const spec of specsOf(facts, name, options)) {
    await yieldToSignals(signal);
    const { found } = spec;
    planned.push({ found, spec: { ...spec.spec, caveats: caveatsOf(await runs.read(found), contents) } });
  }
  const experiment = createExperiment(join(options.experiments, name), planOf(planned, facts, name, options));
  const imported: ImportedRun[] = [];
  for (const { found, spec } of planned) {
    await yieldToSignals(signal);
    const run = await runs.read(found);
    imported.push(await importRun(run, spec, experiment, { contents, task: tasks.get(spec.task), signal }));
    onProgress(`${spec.id}: ${imported.at(-1)?.steps} steps, ${imported.at(-1)?.state}`);
  }
  return { experiment, runs: imported };
}

/** Facts about each run that are kept from the first reading on. */
interface RunFacts {
  found: FoundRun;
  task: string;
  model: string;
  run: string;
  /** Of its first step, seconds since 1970. */
  began: number | null;
}

function factsOf({ task, model, run, steps }: OriginalRun, found: FoundRun): RunFacts {
  // Copies, because slices would keep the whole text in memory.
  const [ownTask = '', ownModel = '', ownRun = ''] = [task, model, run].map((text) =>
    Buffer.from(text).toString(),
  );
  return { found, task: ownTask, model: ownModel, run: ownRun, began: steps[0]?.timestamp ?? null };
}

function experimentName({ name, folders }: ImportOptions): ExperimentName {
  const wanted = name ?? `mlagentbench-${slug(basename(resolve(folders[0] ?? '.')), 80)}`;
  const parsed = ExperimentName.safeParse(wanted);
  if (parsed.success) return parsed.data;
  throw new UserError(
    'bad_name',
    `"${wanted}" can't be the name of an experiment.`,
    'Use at most 100 lower-case letters and digits, joined by "-", "_" or ".".',
  );
}

/** Our tasks with these names, by id; the others are imported without a task. */
function tasksOf(runs: readonly RunFacts[], folders: readonly string[]): Map<string, Task> {
  const tasks = new Map<string, Task>();
  for (const id of new Set(runs.map(({ task }) => taskIdOf(task)))) {
    try {
      tasks.set(id, loadTask(id, folders));
    } catch (error) {
      if (!UserError.isInstance(error) || error.code !== 'unknown_task') throw error;
    }
  }
  return tasks;
}

/** Everything that may have been a file of a listed workspace. */
async function offerContents(
  contents: KnownContents,
  runs: OriginalRuns,
  tasks: ReadonlyMap<string, Task>,
  signal: AbortSignal,
): Promise<void> {
  for (const found of runs.found) await contents.offerRun(await runs.read(found), signal);
  for (const { environmentFolder } of tasks.values()) await contents.offerFolder(environmentFolder, signal);
}

interface PlannedImport {
  found: FoundRun;
  spec: RunSpec;
}

/** Without their caveats. */
function specsOf(
  runs: readonly RunFacts[],
  experiment: ExperimentName,
  { sandbox }: ImportOptions,
): PlannedImport[] {
  const ids = new Set<string>();
  return runs.map((run, index) => {
    const task = TaskId.parse(taskIdOf(run.task));
    const wanted = `${task}-${slug(run.model, 40)}-${slug(run.run, 40)}`;
    let id = wanted;
    for (let number = 2; ids.has(id); number += 1) id = `${wanted}-${number}`;
    ids.add(id);
    const spec: RunSpec = {
      ...{ id: RunId.parse(id), experiment, task, task_version: 'mlagentbench' },
      // Not one of our agents: the run can't be resumed or replayed.
      ...{ agent: 'original', agent_options: {}, model: modelNameOf(run.model) },
      seed: /^\d{1,9}$/.test(run.run) ? Number(run.run) : index,
      ...{ limits: defaultLimits, sandbox, gpu: false, caveats: [] },
    };
    return { found: run.found, spec };
  });
}

function planOf(
  planned: readonly PlannedImport[],
  facts: readonly RunFacts[],
  name: ExperimentName,
  { version }: ImportOptions,
): Plan {
  const times = facts.flatMap(({ began }) => began ?? []);
  const created = times.length === 0 ? 0 : Math.round(Math.min(...times) * 1000);
  const runs = planned.map(({ spec }) => spec);
  return { v: 1, name, created, mlab: version, parallel: 1, grade: 'none', runs };
}

interface RunTools {
  contents: KnownContents;
  task: Task | undefined;
  signal: AbortSignal;
}

async function importRun(
  run: OriginalRun,
  spec: RunSpec,
  experiment: Experiment,
  tools: RunTools,
): Promise<ImportedRun> {
  const folder = experiment.runFolder(spec.id);
  using _lock = folder.lock();
  const source = fingerprint(run);
  const earlier = folder.readRecord();
  if (earlier !== null && earlier.versions.source !== source) throw differs(run, spec);
  const state = earlier === null ? 'imported' : 'there already';
  const record = earlier ?? (await writeRecord(run, spec, source, experiment, tools));
  if (record.status === 'finished') await folder.compressTrace();
  return {
    ...{ run: spec.id, task: spec.task, known_task: tools.task !== undefined, folder: run.folder },
    ...{ steps: record.steps, model_calls: record.spent?.calls ?? 0, state, caveats: spec.caveats },
  };
}

/** The trace first, the record last: a run without a record was not imported completely, and is written again. */
async function writeRecord(
  run: OriginalRun,
  spec: RunSpec,
  source: string,
  experiment: Experiment,
  { contents, task, signal }: RunTools,
): Promise<RunRecord> {
  const folder = experiment.runFolder(spec.id);
  folder.removeTrace();
  const submission = task?.file.submission.files.map(({ path }) => path) ?? [];
  const clock = new ImportClock();
  await using trace = folder.openTrace(clock.now);
  const workspaces = new Workspaces({ objects: folder.objects, contents, submission, signal });
  const entry = task?.file.entry ?? '';
  const written = await writeRun({ run, trace, clock, workspaces, entry, submission, signal });
  const { end, started, ended, steps, secondsUsed } = written;
  const spent = spentOf(readTraceSync(folder.tracePath).events);
  const record: RunRecord = {
    ...{ v: 1, spec, status: end === null ? 'interrupted' : 'finished' },
    end: end === null ? null : { reason: end.reason, message: end.message },
    ...{ versions: { format: 'mlagentbench', source }, host: {}, pid: null, started, updated: ended },
    ...{ steps, seconds_used: secondsUsed, ...(spent.calls === 0 ? {} : { spent }) },
  };
  folder.writeRecordSync(record);
  return record;
}

/**
 * Hash over everything that was read, to detect whether an earlier import read the same. It is the hash of one JSON
 * text, which may be several times as large as the run, so it is built piece by piece.
 */
function fingerprint({ folder, contents, snapshots, workspaceGaps, ...rest }: OriginalRun): string {
  const digest = createHash('sha256');
  const add = (text: string) => digest.update(text);
  const addAll = (values: Iterable<unknown>) => {
    let first = true;
    for (const value of values) {
      add(first ? JSON.stringify(value) : `,${JSON.stringify(value)}`);
      first = false;
    }
  };
  add('[{');
  for (const [index, [name, value]] of Object.entries(rest).entries()) {
    add(`${index === 0 ? '' : ','}${JSON.stringify(name)}:`);
    if (!Array.isArray(value)) add(JSON.stringify(value));
    else {
      add('[');
      addAll(value);
      add(']');
    }
  }
  add('},[');
  for (const [index, [step, files]] of [...snapshots].entries()) {
    add(`${index === 0 ? '' : ','}[${JSON.stringify(step)},[`);
    for (const [place, { path, bytes, hash }] of files.entries())
      add(`${place === 0 ? '' : ','}${JSON.stringify([path, bytes, hash])}`);
    add(']]');
  }
  add(']]');
  return digest.digest('hex');
}

function differs(run: OriginalRun, spec: RunSpec): UserError {
  return new UserError(
    'import_differs',
    `${spec.experiment}/${spec.id} was imported from another recording than the one in ${run.folder}.`,
    'Import it under another name: --name NAME.',
  );
}
