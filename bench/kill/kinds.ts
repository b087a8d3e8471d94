import { join } from 'node:path';
import { makeForkPlan, makePlan, type TaskResources } from '../../src/runs/index.ts';
import { ExperimentFile, type Plan } from '../../src/schema/index.ts';
import { createExperiment, type Experiment, type RunFolder } from '../../src/store/index.ts';
import { brancher, brancherName } from './brancher.ts';
import { Marks } from './marks.ts';

/** One way in which runs are made, and what the kills are aimed at, besides random moments. */
export interface Kind {
  name: string;
  /** The number of undisturbed runs of this kind. */
  seeds: number;
  options: Record<string, boolean>;
  grade: 'final' | 'all';
  gated: boolean;
  /** Decisions are files; `mlab decide` makes them. */
  later: boolean;
  /** It resumes from a step of an undisturbed run of the first kind, as a new experiment. */
  forked: boolean;
  marks: readonly string[];
}

const usual = { options: {}, gated: false, later: false, forked: false };
/** Short or rare operations are aimed at more often. */
const everything = ['fork', 'fork', 'select', 'select', 'select', 'end', 'grade', 'resume', 'step', 'model'];

export const kinds: readonly Kind[] = [
  { ...usual, name: 'branches', seeds: 2, grade: 'all', marks: everything },
  {
    ...usual,
    name: 'gated',
    seeds: 2,
    grade: 'all',
    gated: true,
    marks: ['gate', 'gate', 'gate', 'gate', ...everything],
  },
  {
    ...usual,
    name: 'forked',
    seeds: 1,
    grade: 'final',
    forked: true,
    marks: ['start', 'start', 'start', ...everything],
  },
  {
    ...{ ...usual, name: 'later', seeds: 1, grade: 'final' as const, later: true, options: { short: true } },
    marks: ['wait', 'fork', 'select', 'end', 'grade', 'resume'],
  },
];

export interface OpenedRun {
  kind: Kind;
  seed: number;
  experiment: Experiment;
  run: RunFolder;
  /** For a fork: the experiment of its parent. */
  parent: string | null;
}

/** @param parents experiments of undisturbed runs of the first kind, by seed */
export function openRun(
  kind: Kind,
  seed: number,
  name: string,
  scratch: string,
  resources: TaskResources,
  parents: readonly OpenedRun[],
): OpenedRun {
  const parent = kind.forked ? parents[seed] : undefined;
  const plan = parent === undefined ? planOf(kind, seed, name, resources) : forkPlan(kind, name, parent);
  const experiment = createExperiment(join(scratch, name), plan);
  const run = experiment.runFolder(plan.runs[0]?.id ?? '');
  return { kind, seed, experiment, run, parent: parent?.experiment.folder ?? null };
}

const model = 'anthropic/claude-test-1';
const asking = {
  models: [model],
  prices: { [model]: { input: 3, output: 15, date: '2026-01-01', source: 'made up' } },
  spend: { money: 1000 },
};

function planOf(kind: Kind, seed: number, name: string, { task, prepared }: TaskResources): Plan {
  const file = ExperimentFile.parse({
    ...{ name, agents: [brancherName], seeds: [seed], parallel: 1, grade: kind.grade },
    ...asking,
    ...(kind.later ? { approve_later: true } : {}),
  });
  const agent = brancher(new Marks([], null));
  return makePlan(file, [{ task, verified: prepared.verified }], [{ agent, options: kind.options }], 'bench');
}

function forkPlan({ grade }: Kind, name: string, { experiment, run }: OpenedRun): Plan {
  const { models: _, ...rest } = asking;
  const changes = ExperimentFile.parse({ ...rest, name, grade, limits: { steps: 40 } });
  const [source] = experiment.plan.runs;
  if (source === undefined) throw new Error('the plan is empty');
  const parent = { experiment: experiment.plan.name, run: run.id, step: 2 };
  return makeForkPlan(source, parent, changes, {}, 'bench');
}
