import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import { removeDrafts, writeFileAtomically } from '../lib/atomic-file.ts';
import { hasCode, UserError } from '../lib/errors.ts';
import { isFile, namesIn } from '../lib/files-there.ts';
import { BranchPlan, ExperimentName, Plan, RunId, type RunSpec } from '../schema/index.ts';
import { createFileExclusively, parseStoredText, readTextIfThere } from './documents.ts';
import { ObjectStore } from './object-store.ts';
import { describePlanDifferences } from './plan-differences.ts';
import { RunFolder } from './run-folder.ts';

/** The folder, within an experiment's, of the branches that people began. */
export const branchesName = 'branches';

/** An experiment's folder: the frozen plan, its runs, and the objects that they share. */
export class Experiment {
  /** Absolute path. */
  readonly folder: string;
  readonly plan: Plan;
  readonly objects: ObjectStore;
  #planned: ReadonlyMap<string, RunSpec> | undefined;

  constructor(folder: string, plan: Plan) {
    this.folder = folder;
    this.plan = plan;
    this.objects = new ObjectStore(join(folder, 'objects'));
  }

  /** By which people know it. The plan's own name is an older one if the folder was copied or renamed since. */
  get name(): ExperimentName {
    return experimentNameOf(this.folder, this.plan);
  }

  /** All planned runs, in the order of the plan. */
  get runIds(): RunId[] {
    return this.plan.runs.map((run) => run.id);
  }

  /** Branches that people began from its runs, oldest first (decision 0025). They are not part of the plan. */
  get branches(): BranchPlan[] {
    return branchesIn(this.folder);
  }

  /**
   * As `branches`, without those whose files can't be read.
   * @param onDamaged receives the id of each of these
   */
  readableBranches(onDamaged: (id: string, error: unknown) => void = () => {}): BranchPlan[] {
    return branchesIn(this.folder, onDamaged);
  }

  /** The executor that last got its jobs, in the form of `--on`; null if unknown. */
  get executor(): string | null {
    return recordedExecutor(this.folder);
  }

  recordExecutor(on: string): void {
    const recorded: z.infer<typeof RecordedExecutor> = { v: 1, on };
    writeFileAtomically(executorPath(this.folder), `${JSON.stringify(recorded)}\n`);
  }

  /** A run in the plan, or in the plan of a branch; null if there is no such run. */
  specOf(id: string): RunSpec | null {
    return this.#plannedRuns.get(id) ?? readBranch(this.folder, id)?.run ?? null;
  }

  /** Whether the plan has this run: else it is a branch. Reads no file. */
  isPlanned(id: string): boolean {
    return this.#plannedRuns.has(id);
  }

  /** By id; made on demand. */
  get #plannedRuns(): ReadonlyMap<string, RunSpec> {
    this.#planned ??= new Map(this.plan.runs.map((run) => [run.id, run]));
    return this.#planned;
  }

  /** Freezes a branch before it runs. If it is planned already, returns the existing plan. */
  addBranch(branch: BranchPlan): BranchPlan {
    const checked = BranchPlan.parse(branch);
    const { id } = checked.run;
    const isNew = createFileExclusively(branchPath(this.folder, id), `${JSON.stringify(checked, null, 2)}\n`);
    return isNew ? checked : (readBranch(this.folder, id) ?? checked);
  }

  /** @throws UserError `unknown_run` if neither the plan nor a branch has this id */
  runFolder(id: string): RunFolder {
    const known = this.specOf(id);
    if (known) return new RunFolder(join(this.folder, 'runs', known.id), this.objects);
    throw new UserError(
      'unknown_run',
      `The experiment ${this.name} has no run "${id}".`,
      'List its runs with: mlab runs ls',
    );
  }
}

/**
 * The name of an experiment's folder, with other characters as "-": `lim (1)` is `lim-1`. The planned one if nothing is
 * left of it.
 * @param folder absolute path
 */
export function experimentNameOf(folder: string, plan: Pick<Plan, 'name'>): ExperimentName {
  const given = basename(folder);
  const simple = given
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((part) => part !== '')
    .join('-');
  return ExperimentName.safeParse(given).data ?? ExperimentName.safeParse(simple).data ?? plan.name;
}

/**
 * As `Experiment.executor`, without reading the plan.
 * @param experiment its folder
 */
export function recordedExecutor(experiment: string): string | null {
  const path = executorPath(experiment);
  const text = readTextIfThere(path);
  return text === null ? null : parseStoredText(RecordedExecutor, text, path).on;
}

/** `executor.json` */
const RecordedExecutor = z.object({ v: z.literal(1), on: z.string() });

function executorPath(folder: string): string {
  return join(folder, 'executor.json');
}

/**
 * As `Experiment.branches`, without reading the plan.
 * @param experiment its folder
 * @param onDamaged receives the id of each branch that can't be read; default: throws the first problem
 */
export function branchesIn(
  experiment: string,
  onDamaged: (id: string, error: unknown) => void = rethrow,
): BranchPlan[] {
  return namesIn(join(experiment, branchesName))
    .flatMap((name) => {
      const id = name.replace(/\.json$/, '');
      try {
        return readBranch(experiment, id) ?? [];
      } catch (error) {
        onDamaged(id, error);
        return [];
      }
    })
    .sort((one, other) => one.created - other.created);
}

function rethrow(_: string, error: unknown): never {
  throw error;
}

function readBranch(experiment: string, given: string): BranchPlan | null {
  const id = RunId.safeParse(given);
  if (!id.success) return null;
  const path = branchPath(experiment, id.data);
  const text = readTextIfThere(path);
  if (text === null) return null;
  const branch = parseStoredText(BranchPlan, text, path);
  return branch.run.id === id.data ? branch : null;
}

function branchPath(experiment: string, id: RunId): string {
  return join(experiment, branchesName, `${id}.json`);
}

/**
 * Freezes a plan before anything runs. If the folder has a plan already, it is kept and opened if it plans the same
 * runs; the time, the version of mlab and the number of parallel runs may differ.
 * @throws UserError `plan_differs`, and as `openExperiment`
 */
export function createExperiment(folder: string, plan: Plan): Experiment {
  const checked = Plan.parse(plan);
  refuseDuplicates(checked);
  const absolute = resolve(folder);
  if (createFileExclusively(planPath(absolute), `${JSON.stringify(checked, null, 2)}\n`)) {
    return new Experiment(absolute, checked);
  }
  // Starts that were killed left theirs; a younger one may belong to a start that is under way.
  removeDrafts(planPath(absolute), hourMs);
  const existing = openExperiment(absolute);
  const differences = describePlanDifferences(existing.plan, checked);
  if (differences.length === 0) return existing;
  throw new UserError(
    'plan_differs',
    `${absolute} already contains a different plan:\n${differences.map((line) => `  ${line}`).join('\n')}`,
    'Undo the change to resume it; otherwise give the experiment another name, or delete the folder.',
  );
}

/** @throws UserError `no_experiment`, `broken_file`, `future_version` */
export function openExperiment(folder: string): Experiment {
  const absolute = resolve(folder);
  const text = readTextIfThere(planPath(absolute));
  if (text !== null) return new Experiment(absolute, parseStoredText(Plan, text, planPath(absolute)));
  throw new UserError(
    'no_experiment',
    `${absolute} is not an experiment: it has no plan.json`,
    'List the experiments with: mlab runs ls',
  );
}

/** Names and absolute paths of the experiments in a folder, by name; none if there is no such folder. */
export function listExperiments(root: string): { name: ExperimentName; folder: string }[] {
  return experimentFolders(root)
    .flatMap((folder) => {
      const name = ExperimentName.safeParse(basename(folder));
      return name.success ? [{ name: name.data, folder }] : [];
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** What folders of experiments are called that `listExperiments` leaves out, as that is no name of an experiment. */
export function misnamedExperiments(root: string): string[] {
  const names = experimentFolders(root).map((folder) => basename(folder));
  return names.filter((name) => !ExperimentName.safeParse(name).success).sort();
}

function experimentFolders(root: string): string[] {
  const absolute = resolve(root);
  return namesIn(absolute)
    .map((name) => join(absolute, name))
    .filter(hasPlan);
}

/** The closed folders of other users are left out. */
function hasPlan(folder: string): boolean {
  try {
    return isFile(planPath(folder));
  } catch (error) {
    if (hasCode(error, 'EACCES')) return false;
    throw error;
  }
}

const hourMs = 3_600_000;

function planPath(folder: string): string {
  return join(folder, 'plan.json');
}

function refuseDuplicates(plan: Plan): void {
  const ids = new Set<string>();
  for (const { id } of plan.runs) {
    if (ids.has(id)) throw new Error(`the plan has two runs ${id}`);
    ids.add(id);
  }
}
