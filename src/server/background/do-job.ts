import { basename, join } from 'node:path';
import { EvaluationIndex, evaluateRun, evaluationsOf, stepFindings } from '../../evaluation/index.ts';
import { UserError } from '../../lib/errors.ts';
import type { RunEvaluation, SnapshotEntry, StepDiff } from '../../schema/index.ts';
import { buildReport, compareRuns, distinctAgents, withoutCopies } from '../../statistics/index.ts';
import { diffSnapshots, ObjectStore, openExperiment } from '../../store/index.ts';
import { reportOptions } from '../report-options.ts';
import type { BackgroundJob, Results } from './jobs.ts';

const maxFiles = 300;

type Progress = (done: number, total: number) => void;

/** Does one job, in the background process. */
export async function doJob(
  job: BackgroundJob,
  onProgress: Progress,
): Promise<Results[BackgroundJob['kind']]> {
  switch (job.kind) {
    case 'report':
      return await makeReport(job, onProgress);
    case 'comparison':
      return await makeComparison(job, onProgress);
    case 'evaluation':
      return evaluateOne(job);
    case 'diff':
      return diffOf(job);
  }
}

async function readAll(
  folders: readonly string[],
  onProgress: Progress,
  isWanted: (folder: string) => boolean = () => true,
) {
  const surroundings = { log: () => {}, onProgress, isWanted, signal: new AbortController().signal };
  return await evaluationsOf(surroundings, folders.map(openExperiment));
}

/** Loaded on demand: most jobs are faster without. */
async function tasksIn(folders: readonly string[]) {
  const { findTasks } = await import('../../tasks/index.ts');
  return findTasks(folders).tasks;
}

async function makeReport(
  job: Extract<BackgroundJob, { kind: 'report' }>,
  onProgress: Progress,
): Promise<Results['report']> {
  const isWanted = (folder: string) => job.runs?.some((run) => run === basename(folder)) !== false;
  const { evaluations, unreadable } = await readAll([job.folder], onProgress, isWanted);
  const options = reportOptions(await tasksIn(job.tasks), { convention: job.convention, published: true });
  return { report: buildReport(evaluations, options), unreadable };
}

async function makeComparison(
  { folders, a, b, tasks }: Extract<BackgroundJob, { kind: 'comparison' }>,
  onProgress: Progress,
): Promise<Results['comparison']> {
  const options = reportOptions(await tasksIn(tasks), { convention: 'every_run', published: false });
  const [first, second] = folders;
  if (first === undefined || second === undefined) {
    const { evaluations } = await readAll(folders, onProgress);
    // By the labels that the report gives them.
    const named = distinctAgents(withoutCopies(evaluations).evaluations);
    const sideOf = (name: string) => ({ name, evaluations: named.filter(({ agent }) => agent === name) });
    return { comparison: compareRuns(checked(sideOf(a)), checked(sideOf(b)), options) };
  }
  const sideOf = async (folder: string, name: string) => ({
    name,
    evaluations: (await readAll([folder], onProgress)).evaluations,
  });
  return { comparison: compareRuns(await sideOf(first, a), await sideOf(second, b), options) };
}

function checked(side: { name: string; evaluations: RunEvaluation[] }) {
  if (side.evaluations.length > 0) return side;
  throw new UserError('unknown_agent', `No run here has the agent "${side.name}".`, 'Choose another agent.');
}

function evaluateOne({ folder, run }: Extract<BackgroundJob, { kind: 'evaluation' }>): Results['evaluation'] {
  const experiment = openExperiment(folder);
  const runFolder = experiment.runFolder(run);
  const spec = experiment.specOf(run);
  if (spec === null) throw new Error(`the plan has no run ${run}`);
  using index = new EvaluationIndex(join(folder, '..'));
  const evaluation = index.evaluation(runFolder.folder, () => evaluateRun(runFolder, spec));
  return { evaluation, ...stepFindings(runFolder, evaluation) };
}

async function diffOf({
  objects,
  before,
  after,
}: Extract<BackgroundJob, { kind: 'diff' }>): Promise<Results['diff']> {
  const differences = await diffSnapshots(new ObjectStore(objects), before, after);
  const files: StepDiff['files'] = differences.slice(0, maxFiles).map((one) => ({
    ...{ path: one.path, kind: one.kind, as: one.as, patch: one.as === 'text' ? one.patch : null },
    ...{ before: fileOf(one.before), after: fileOf(one.after) },
  }));
  return { files, total: differences.length };
}

function fileOf(entry: SnapshotEntry | null) {
  return entry !== null && 'object' in entry ? { object: entry.object, size: entry.size } : null;
}
