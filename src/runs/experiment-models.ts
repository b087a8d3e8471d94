import { type ModelRegistry, Quota } from '../models/index.ts';
import { type Plan, type RunParent, type RunSpec, Spent } from '../schema/index.ts';
import {
  type Experiment,
  nothingSpent,
  ownEvents,
  type RunFolder,
  readTraceSync,
  spentOf,
} from '../store/index.ts';
import { archivedAttempts } from './archived-attempts.ts';
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

/** What the discarded attempts of some runs cost in US dollars, and whether parts of it are estimated. */
export interface DiscardedCost {
  money: number;
  estimated: boolean;
}

/** No report of the runs counts it. */
export function discardedCost(experiment: Experiment, runs: readonly RunSpec[]): DiscardedCost {
  const spent = runs.flatMap(({ id, parent }) =>
    archivedAttempts(experiment.runFolder(id)).map((attempt) => spentBy(attempt, parent)),
  );
  return {
    money: spent.reduce((sum, { money }) => sum + money, 0),
    estimated: spent.some(({ estimated = 0 }) => estimated > 0),
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
