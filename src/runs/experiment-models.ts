import { join } from 'node:path';
import { hasCode, messageOf, UserError } from '../lib/errors.ts';
import { type ModelRegistry, Quota } from '../models/index.ts';
import { type Plan, type RunParent, type RunSpec, Spent } from '../schema/index.ts';
import {
  archivedAttempts,
  type Experiment,
  nothingSpent,
  ownEvents,
  type RunFolder,
  type RunLease,
  readTraceSync,
  recordingOf,
  spentOf,
  takeLease,
} from '../store/index.ts';
import type { ExperimentModels } from './tool-model.ts';

/** The models of a plan. What was used so far is deducted from the shared quota. */
export function experimentModels(
  { spend }: Pick<Plan, 'spend'>,
  { registry, experiment }: { registry?: ModelRegistry | undefined; experiment: Experiment },
): (ExperimentModels & { shared: Quota | null }) | undefined {
  if (registry === undefined) return undefined;
  const { tokens, money } = spend ?? {};
  if (tokens === undefined && money === undefined) return { registry, shared: null };
  const spent = spentByAll(experiment);
  return { registry, shared: new Quota({ of: 'the experiment', tokens, money, spent }) };
}

/**
 * The right to use what an experiment may spend, which each process counts for itself; null if that is not limited. An
 * owner on another machine is watched for up to half a minute.
 * @throws UserError `spending_elsewhere`; the signal's reason
 */
export async function takeSpending(
  { spend }: Pick<Plan, 'spend'>,
  {
    registry,
    experiment,
    signal,
  }: { registry?: ModelRegistry | undefined; experiment: Experiment; signal: AbortSignal },
): Promise<RunLease | null> {
  const isLimited = spend?.tokens !== undefined || spend?.money !== undefined;
  if (registry === undefined || !isLimited) return null;
  try {
    return await takeLease(join(experiment.folder, 'spending'), { signal });
  } catch (error) {
    if (!hasCode(error, 'run_locked')) throw error;
    throw new UserError(
      'spending_elsewhere',
      `Another command is executing runs of ${experiment.name}, which has a limit on spending: ${messageOf(error)}`,
      'Each command counts its own calls, so together they would exceed the limit. Wait until the other has finished, or stop it.',
    );
  }
}

/** The use of all runs and their branches so far, with archived attempts and gradings, from the store. */
export function spentByAll(experiment: Experiment): { tokens: number; money: number } {
  const spent = { tokens: 0, money: 0 };
  const runs = [...experiment.plan.runs, ...experiment.branches.map(({ run }) => run)];
  for (const { id, parent } of runs) {
    const folder = experiment.runFolder(id);
    for (const attempt of [folder, ...archivedAttempts(folder)]) {
      for (const used of [spentBy(attempt, parent), ...spentInGrading(attempt)]) {
        spent.tokens += used.tokens;
        spent.money += used.money;
      }
    }
  }
  return spent;
}

/** Of calls to language models. */
interface Cost {
  /** In US dollars, as far as prices are known. */
  money: number;
  /** Whether parts of it are estimated. */
  estimated: boolean;
  /** How many attempts or branches have calls of unknown cost. */
  unpriced: number;
}

/** What the costs of some runs, added up, leave out or count twice. */
export interface FurtherCosts {
  /** Attempts that later ones replaced. */
  discarded: Cost;
  /** Branches that people began from the runs, without what they share with them. */
  branches: Cost;
  /** The part of forks that counts for the runs that they were forked from. */
  shared: Cost;
}

/**
 * Damaged runs are left out, as reports do.
 * @param added ids of the runs whose costs are added up
 * @param counted recordings that count already, in copies of the experiment; those of discarded attempts are added
 */
export function furtherCosts(
  experiment: Experiment,
  runs: readonly RunSpec[],
  added: ReadonlySet<string>,
  counted: Set<string> = new Set(),
): FurtherCosts {
  const attemptsOf = ({ id, parent }: RunSpec) =>
    archivedAttempts(experiment.runFolder(id)).flatMap((attempt) =>
      unlessDamaged(() => (isNew(attempt, counted) ? spentBy(attempt, parent) : undefined)),
    );
  const sharedBy = ({ id, parent }: RunSpec) =>
    parent === undefined || !added.has(id) ? undefined : experiment.runFolder(id).readRecord()?.shared?.spent;
  const begun = branchesFrom(experiment, runs);
  return {
    discarded: costOf([...runs, ...begun].flatMap(attemptsOf)),
    branches: costOf(
      begun.flatMap(({ id, parent }) => unlessDamaged(() => spentBy(experiment.runFolder(id), parent))),
    ),
    shared: costOf(runs.flatMap((run) => unlessDamaged(() => sharedBy(run)))),
  };
}

/** Whether the recording of an attempt does not count yet; from now on it does. */
function isNew(attempt: RunFolder, counted: Set<string>): boolean {
  const record = attempt.readRecord();
  if (record === null) return true;
  const recording = recordingOf(record);
  const isFirst = !counted.has(recording);
  counted.add(recording);
  return isFirst;
}

function unlessDamaged(read: () => Spent | undefined): Spent[] {
  try {
    return [read() ?? []].flat();
  } catch (error) {
    if (!UserError.isInstance(error)) throw error;
    return [];
  }
}

/** Branches that people began from these runs, and from those branches. */
function branchesFrom(experiment: Experiment, runs: readonly RunSpec[]): RunSpec[] {
  const found = new Set(runs.map(({ id }) => id));
  return experiment
    .readableBranches()
    .map(({ run }) => run)
    .filter(({ id, parent }) => parent !== undefined && found.has(parent.run) && found.add(id));
}

function costOf(spent: readonly Spent[]): Cost {
  return {
    money: spent.reduce((sum, { money }) => sum + money, 0),
    estimated: spent.some(({ estimated = 0 }) => estimated > 0),
    unpriced: spent.filter(({ unpriced }) => unpriced > 0).length,
  };
}

/** Without the part that a fork shares with its parent, for which it counts. */
function spentBy(folder: RunFolder, parent: RunParent | undefined): Spent {
  const record = folder.readRecord();
  if (record?.status === 'finished' && parent === undefined) return record.spent ?? nothingSpent;
  // The record of a killed run is behind its trace.
  if (!folder.hasTrace()) return nothingSpent;
  return spentOf(ownEvents(readTraceSync(folder.tracePath).events, parent));
}

/** Model calls of submitted tools during grading: each submission counts once, whatever the number of its steps. */
function spentInGrading(folder: RunFolder): Spent[] {
  const { grades } = folder.readGrades();
  const graded = new Map(grades.map((grade) => [`${grade.grader} ${grade.submission}`, grade]));
  return [...graded.values()].flatMap(({ details }) => {
    const used = Spent.safeParse(details.tool_model);
    return used.success ? [used.data] : [];
  });
}
