import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import pLimit from 'p-limit';
import { type GradeRunOptions, gradeRun } from '../../grading/index.ts';
import { messageOf } from '../../lib/errors.ts';
import { everyMinute } from '../../lib/every-minute.ts';
import {
  ExperimentName,
  type Grade,
  type Plan,
  RunId,
  type RunSpec,
  type SandboxDriver,
} from '../../schema/index.ts';
import {
  checkRun,
  createExperiment,
  type RunFolder,
  readSnapshot,
  readTraceSync,
  stepsOf,
} from '../../store/index.ts';
import { dataCaveats } from '../../tasks/index.ts';
import { givenGpus, type HeldGpus } from '../gpus/gpu-leases.ts';
import { limitsFor } from '../plan.ts';
import { scriptCrash } from '../script-crash.ts';
import { executeRun } from '../session/execute-run.ts';
import type { TaskResources } from '../workspace.ts';
import { compareHostFiles, hostFiles } from './host-files.ts';
import { judgeAgent, unfinishedAgent, type ValidationAgentReport } from './judge.ts';
import { type Secret, secretsOf } from './secrets.ts';
import type { EndedRun, Probe, ValidatedRun, ValidationAgent } from './validation-agent.ts';

export interface CheckTaskOptions {
  resources: TaskResources;
  validationAgents: readonly ValidationAgent[];
  helpersFolder: string;
  /** An empty folder, in which the runs are kept as an experiment. */
  folder: string;
  versions: Record<string, string>;
  sandbox: SandboxDriver;
  parallel: number;
  /** For the agents, one after the other, and the grader; absent: none. */
  gpus?: HeldGpus | undefined;
  signal: AbortSignal;
  onProgress: (line: string) => void;
  /**
   * Called for each validation agent as it ends.
   * @param count of those that have ended, and of all
   */
  onReport: (report: ValidationAgentReport, count: { ended: number; of: number }) => void;
}

/** Runs the validation agents on a task, several at a time, each as a separate run, and judges each. */
export async function checkTask(options: CheckTaskOptions): Promise<ValidationAgentReport[]> {
  const { resources, helpersFolder, signal } = options;
  // If times are measured, nothing else may keep the machine busy; and a GPU belongs to one run.
  const isAlone = resources.task.file.grading.runs_submission || options.gpus !== undefined;
  const parallel = isAlone ? 1 : options.parallel;
  const validationAgents = options.validationAgents.filter((validationAgent) =>
    validationAgent.fits(resources),
  );
  if (validationAgents.length === 0) return [];
  const experiment = createExperiment(options.folder, planOf(validationAgents, options));
  const secrets = await secretsOf(resources);
  const limit = pLimit(parallel);
  let ended = 0;
  // Wait for all, whatever the result of one: the folder that they write to is removed afterwards.
  const outcomes = await Promise.allSettled(
    validationAgents.map((validationAgent) =>
      limit(async () => {
        signal.throwIfAborted();
        options.onProgress(`${validationAgent.name}: ${validationAgent.summary}`);
        const spec = specOf(validationAgent, experiment.plan);
        const folder = experiment.runFolder(spec.id);
        const scene: ValidatedRun = {
          ...{ resources, helpersFolder, folder, secrets, sandbox: options.sandbox },
          experimentFolder: experiment.folder,
          token: randomBytes(8).toString('hex'),
        };
        const report = await reportOf(validationAgent, spec, scene, options);
        options.onReport(report, { ended: ++ended, of: validationAgents.length });
        return report;
      }),
    ),
  );
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
}

/** One that could not be run is reported as such, and the others continue. */
async function reportOf(
  validationAgent: ValidationAgent,
  spec: RunSpec,
  scene: ValidatedRun,
  options: CheckTaskOptions,
): Promise<ValidationAgentReport> {
  const start = performance.now();
  try {
    return await runAndJudge(validationAgent, spec, scene, options);
  } catch (error) {
    options.signal.throwIfAborted();
    return unfinishedAgent(validationAgent, spec.id, messageOf(error), (performance.now() - start) / 1000);
  }
}

async function runAndJudge(
  validationAgent: ValidationAgent,
  spec: RunSpec,
  scene: ValidatedRun,
  { resources, helpersFolder, versions, gpus, signal, onProgress }: CheckTaskOptions,
): Promise<ValidationAgentReport> {
  const { folder } = scene;
  const start = performance.now();
  let stage = 'acting';
  // A grader that runs submitted code may take minutes for all forgeries.
  using _reminder = everyMinute((minutes) =>
    onProgress(`${validationAgent.name}: still ${stage}, after ${minutes} min`),
  );
  const isAdversarial = validationAgent.expects === 'no_breach';
  const before = isAdversarial ? await hostFiles(resources, helpersFolder) : null;
  using _lock = folder.lock();
  await using staged = await validationAgent.stage(scene);
  const { agent, reference } = staged;
  const record = await executeRun(spec, {
    ...{ folder, resources, agent, reference, helpersFolder, versions, gpus, signal },
    threads: 1,
    onProgress: () => {},
  });
  signal.throwIfAborted();
  stage = 'being graded';
  const grading = { folder, ...resources, helpersFolder, gpus: gpus?.gpus, signal };
  const { grades, notGraded } = await gradesOf(validationAgent, grading);
  signal.throwIfAborted();
  const evidence: EndedRun = { record, grades, steps: stepsOf(readTraceSync(folder.tracePath).events) };
  const probes = await staged.probe(evidence);
  if (before !== null) {
    probes.push(compareHostFiles(before, await hostFiles(resources, helpersFolder)));
    probes.push(await storeProbe(folder), secretProbe(folder, evidence, scene.secrets));
  }
  const attempts = staged.attempts(evidence);
  const mustScore = validationAgent.mustRun?.(resources) === true;
  const crash = mustScore ? scriptCrash(folder, evidence.steps) : null;
  const seconds = (performance.now() - start) / 1000;
  const found = { record, grades, notGraded, mustScore, crash, attempts, probes, seconds };
  return judgeAgent({ validationAgent, ...found });
}

async function gradesOf(
  { graded }: ValidationAgent,
  grading: Omit<GradeRunOptions, 'which'>,
): Promise<{ grades: Grade[]; notGraded: string | null }> {
  try {
    const grades = await gradeRun({ ...grading, which: graded });
    return { grades, notGraded: null };
  } catch (error) {
    return { grades: [], notGraded: `it could not be graded: ${messageOf(error)}` };
  }
}

/** Checks that the run's files are as they were written: an agent must not have changed them. */
async function storeProbe(folder: RunFolder): Promise<Probe> {
  const problems = await checkRun(folder);
  const list = problems.slice(0, 3).map(({ where, message }) => `${where}: ${message}`);
  return {
    looked: 'trace, grades and objects of the run',
    breached: problems.length > 0,
    finding: problems.length > 0 ? list.join('; ') : 'whole, by their hashes',
  };
}

/** Checks that no file of any step's workspace has the content of a secret file. */
function secretProbe(folder: RunFolder, { steps, grades }: EndedRun, secrets: readonly Secret[]): Probe {
  const pathOf = new Map(secrets.map(({ path, sha256 }) => [sha256, path]));
  const snapshots = new Set([
    ...steps.map(({ finished }) => finished.snapshot),
    ...grades.map(({ snapshot }) => snapshot),
  ]);
  const found = [...snapshots].flatMap((id) =>
    readSnapshot(folder.objects, id).entries.flatMap((entry) => {
      const secret = 'object' in entry ? pathOf.get(entry.object) : undefined;
      return secret === undefined ? [] : [`${secret} (as ${entry.path})`];
    }),
  );
  return {
    looked: 'secret contents in the workspace of any step',
    breached: found.length > 0,
    finding: found.length > 0 ? [...new Set(found)].join(', ') : `none in ${snapshots.size} snapshots`,
  };
}

function planOf(validationAgents: readonly ValidationAgent[], options: CheckTaskOptions): Plan {
  const { task, prepared } = options.resources;
  const name = ExperimentName.parse(`check-${task.file.id}`);
  const runs = validationAgents.map(
    (validationAgent): RunSpec => ({
      id: runId(task.file.id, validationAgent),
      experiment: name,
      task: task.file.id,
      task_version: task.version,
      agent: validationAgent.name,
      agent_options: {},
      model: null,
      seed: 0,
      limits: limitsFor(task, validationAgent.limits),
      sandbox: options.sandbox,
      ...givenGpus(options.gpus),
      caveats: dataCaveats(task, prepared.verified),
    }),
  );
  return {
    ...{ v: 1, name, created: Date.now(), mlab: options.versions.mlab ?? '' },
    ...{ parallel: options.parallel, grade: 'final', runs },
  };
}

function runId(task: string, validationAgent: ValidationAgent): RunId {
  return RunId.parse(`${task}-${validationAgent.name}-0`);
}

function specOf(validationAgent: ValidationAgent, plan: Plan): RunSpec {
  const spec = plan.runs.find(({ agent }) => agent === validationAgent.name);
  if (spec === undefined) throw new Error(`the validation agent ${validationAgent.name} was not planned`);
  return spec;
}

/** The folder for the runs of a check. */
export function checkFolder(parent: string, task: string): string {
  return join(parent, `check-${task}`);
}
