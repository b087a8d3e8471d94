import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import pLimit from 'p-limit';
import { agentByName } from '../agents/index.ts';
import type { StepProgress } from '../environment/index.ts';
import { gradeRun } from '../grading/index.ts';
import { messageOf, UserError } from '../lib/errors.ts';
import type { Grade, Plan, RunRecord, RunSpec } from '../schema/index.ts';
import type { Experiment, RunFolder } from '../store/index.ts';
import { runOne } from './run-one.ts';
import { solutionFiles } from './solution-files.ts';
import type { TaskEquipment } from './workspace.ts';

/** What to do with a run that did not end properly: go on from its last step, start over, or leave it. */
export type BrokenRuns = 'continue' | 'restart' | 'keep';

export type ExperimentProgress =
  | { kind: 'run_kept'; run: RunSpec; record: RunRecord }
  | { kind: 'run_started'; run: RunSpec; resumed: boolean }
  | { kind: 'run_step'; run: RunSpec; progress: StepProgress }
  | { kind: 'run_ended'; run: RunSpec; record: RunRecord }
  | { kind: 'run_graded'; run: RunSpec; grades: Grade[] }
  | { kind: 'run_not_graded'; run: RunSpec; message: string };

export interface ExperimentServices {
  experiment: Experiment;
  /** Data and Python environment of every task of the plan. */
  equipment: ReadonlyMap<string, TaskEquipment>;
  helpersFolder: string;
  versions: Record<string, string>;
  broken: BrokenRuns;
  signal: AbortSignal;
  onProgress: (progress: ExperimentProgress) => void;
}

export interface RunResult {
  spec: RunSpec;
  record: RunRecord | null;
  /** Why it could not be worked on or graded; null when all went well. */
  problem: string | null;
}

/**
 * Works through an experiment's plan, several runs at a time, and grades each run when it ends. Finished runs are
 * kept. What goes wrong with one run is its result, and never stops the others. When the signal is aborted, runs
 * under way stop after what they have recorded, and no other begins.
 */
export async function runExperiment(plan: Plan, services: ExperimentServices): Promise<RunResult[]> {
  const limit = pLimit(plan.parallel);
  const threads = Math.max(1, Math.floor(cpus().length / plan.parallel));
  return Promise.all(
    plan.runs.map((spec) =>
      limit(async () => {
        if (services.signal.aborted) return { spec, record: null, problem: 'not begun' };
        try {
          return await workOff(spec, plan, threads, services);
        } catch (error) {
          if (services.signal.aborted) return { spec, record: null, problem: 'interrupted' };
          return { spec, record: null, problem: messageOf(error) };
        }
      }),
    ),
  );
}

async function workOff(
  spec: RunSpec,
  plan: Plan,
  threads: number,
  services: ExperimentServices,
): Promise<RunResult> {
  const { experiment, onProgress, signal } = services;
  const folder = experiment.runFolder(spec.id);
  using _lock = folder.lock();
  const earlier = folder.readRecord();
  const kept = earlier !== null && (earlier.status === 'finished' || services.broken === 'keep');
  const equipment = equipmentOf(spec, services.equipment);
  if (kept) onProgress({ kind: 'run_kept', run: spec, record: earlier });
  if (earlier !== null && !kept && services.broken === 'restart') putAside(folder);
  const record = kept ? earlier : await carryOut(spec, folder, equipment, threads, services);
  if (record.status !== 'finished') return { spec, record, problem: record.end?.message ?? record.status };
  if (plan.grade === 'none' || (kept && folder.readGrades().grades.some(({ final }) => final))) {
    return { spec, record, problem: null };
  }
  try {
    const { helpersFolder } = services;
    const grades = await gradeRun({
      folder,
      ...equipment,
      helpersFolder,
      which: plan.grade,
      signal,
    });
    onProgress({ kind: 'run_graded', run: spec, grades });
    return { spec, record, problem: null };
  } catch (error) {
    const message = `not graded: ${messageOf(error)}`;
    onProgress({ kind: 'run_not_graded', run: spec, message });
    return { spec, record, problem: message };
  }
}

async function carryOut(
  spec: RunSpec,
  folder: RunFolder,
  equipment: TaskEquipment,
  threads: number,
  services: ExperimentServices,
): Promise<RunRecord> {
  const { onProgress, helpersFolder, versions, signal } = services;
  const agent = agentByName(spec.agent);
  onProgress({ kind: 'run_started', run: spec, resumed: folder.readRecord() !== null });
  const record = await runOne(spec, {
    ...{ folder, equipment, agent, helpersFolder, versions, threads, signal },
    reference: agent.needs.reference ? solutionFiles(equipment.task, 'solution') : null,
    onProgress: (progress) => onProgress({ kind: 'run_step', run: spec, progress }),
  });
  onProgress({ kind: 'run_ended', run: spec, record });
  return record;
}

function equipmentOf(spec: RunSpec, equipment: ReadonlyMap<string, TaskEquipment>): TaskEquipment {
  const found = equipment.get(spec.task);
  if (found === undefined) throw new Error(`the plan's task ${spec.task} was not equipped`);
  if (found.task.version === spec.task_version) return found;
  throw new UserError(
    'task_changed',
    `The task ${spec.task} has changed since this experiment was planned.`,
    'Start a new experiment (--name), or bring the old task back.',
  );
}

/** Keeps what a broken run left, out of the way of the one that starts over. The lock stays where it is. */
function putAside({ folder, id }: RunFolder): void {
  const attempts = join(dirname(folder), '.discarded');
  mkdirSync(attempts, { recursive: true });
  const discarded = join(attempts, `${id}.${readdirSync(attempts).length + 1}`);
  mkdirSync(discarded);
  for (const name of readdirSync(folder)) {
    if (!name.startsWith('lock.')) renameSync(join(folder, name), join(discarded, name));
  }
}
