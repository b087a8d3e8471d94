import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Plan } from '../src/schema/index.ts';
import { createExperiment, type Experiment, type RunFolder } from '../src/store/index.ts';
import type { BenchContext, Benchmark, Measurement } from './benchmark.ts';
import { actionsOf, finishedSteps, Inspector } from './kill-inspector.ts';
import { live } from './killed-process.ts';
import { planFor } from './plans.ts';
import { provision, requireSandbox } from './task-resources.ts';

/** Their runs are known uninterrupted; each is killed over and over under other moments. */
const seeds = 5;
/** Runs that are killed at the same time, each in a process of its own. */
const atOnce = 4;

interface Tally {
  kills: number;
  killsUnderWay: number;
  runs: number;
  lostSteps: number;
  failedResumes: number;
  storeProblems: number;
  tornLines: number;
  diverged: number;
  leftOver: string[];
}

export const kill: Benchmark = {
  name: 'kill',
  summary:
    'kill -9 at 2,000 random moments of runs and gradings: what is lost, what is left over, do they resume',
  async measure(context) {
    const kills = context.quick ? 8 : 2_000;
    await requireSandbox();
    const resources = await provision(context.cache, context.signal);
    const tally: Tally = {
      ...{ kills: 0, killsUnderWay: 0, runs: 0, lostSteps: 0, failedResumes: 0 },
      ...{ storeProblems: 0, tornLines: 0, diverged: 0, leftOver: [] },
    };
    const planOf = (name: string, seed: number): Plan =>
      planFor({ name, agent: 'automl', seeds: [seed], grade: 'final', sandbox: 'bubblewrap' }, resources);
    const whole: WholeRun[] = [];
    for (let seed = 0; seed < (context.quick ? 1 : seeds); seed++)
      whole.push(await uninterrupted(planOf(`whole-${seed}`, seed), context));
    const killInTurn = async () => {
      while (tally.kills < kills) {
        const number = tally.runs++;
        const seed = number % whole.length;
        const undisturbed = whole[seed];
        if (undisturbed === undefined) throw new Error(`there is no run of seed ${seed}`);
        await killUntilDone(planOf(`killed-${number}`, seed), undisturbed, kills, tally, context);
        context.log(`${tally.kills} kills, ${tally.runs} runs`);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, killInTurn));
    tally.leftOver = leftOvers(context.scratch);
    for (const name of tally.leftOver) context.log(`left over: ${name}`);
    return measurementsOf(tally);
  },
};

/** A run that nobody disturbed. */
interface WholeRun {
  actions: string[];
  /** From the start of the process to its end. */
  milliseconds: number;
}

async function uninterrupted(plan: Plan, { scratch, cache, signal }: BenchContext): Promise<WholeRun> {
  const { experiment, run } = openRun(plan, scratch);
  const life = await live(experiment.folder, cache, null, signal);
  if (life.end !== 'done') throw new Error(`an undisturbed run ended with: ${life.complaint}`);
  return { actions: actionsOf(run), milliseconds: life.milliseconds };
}

/** Kills the process that works on a run at a random moment, looks at what is left, and starts it again; to the end. */
async function killUntilDone(
  plan: Plan,
  whole: WholeRun,
  kills: number,
  tally: Tally,
  { scratch, cache, log, signal }: BenchContext,
): Promise<void> {
  const { experiment, run } = openRun(plan, scratch);
  const inspector = new Inspector(run);
  for (;;) {
    const killAfter = tally.kills < kills ? Math.random() * whole.milliseconds : null;
    const life = await live(experiment.folder, cache, killAfter, signal);
    const found = await inspector.look(life.stepsSeen);
    tally.lostSteps += found.lostSteps.length;
    tally.storeProblems += found.problems.length;
    tally.tornLines += found.tornLines;
    for (const step of found.lostSteps) log(`${run.folder}: step ${step} is lost`);
    for (const { code, where, message } of found.problems) log(`${code}: ${where}: ${message}`);
    if (life.end === 'failed') {
      tally.failedResumes += 1;
      log(`${run.folder} did not go on: ${life.complaint}`);
      return;
    }
    if (life.end === 'done') break;
    tally.kills += 1;
    if (finishedSteps(run).length > 0) tally.killsUnderWay += 1;
  }
  const same = JSON.stringify(actionsOf(run)) === JSON.stringify(whole.actions);
  const graded = run.readGrades().grades.filter(({ final, valid }) => final && valid).length === 1;
  if (same && graded) return;
  tally.diverged += 1;
  log(`${run.folder} ended otherwise than undisturbed (${same ? 'not graded once' : 'other actions'})`);
}

/** Mounts beneath the folder of the runs, and processes that work in it, when all runs have ended. */
function leftOvers(scratch: string): string[] {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => line.includes(` ${scratch}/`));
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isWithin(name, scratch));
  return [...mounts, ...processes.map((id) => `process ${id}`)];
}

/** Whether a process other than this one works in the folder or was started with its path. */
function isWithin(id: string, scratch: string): boolean {
  if (Number(id) === process.pid) return false;
  try {
    const started = readFileSync(`/proc/${id}/cmdline`, 'utf8');
    return readlinkSync(`/proc/${id}/cwd`).startsWith(`${scratch}/`) || started.includes(`${scratch}/`);
  } catch {
    // It has ended.
    return false;
  }
}

function openRun(plan: Plan, scratch: string): { experiment: Experiment; run: RunFolder } {
  const experiment = createExperiment(join(scratch, plan.name), plan);
  return { experiment, run: experiment.runFolder(experiment.runIds[0] ?? '') };
}

function measurementsOf(tally: Tally): Measurement[] {
  const none = { unit: '', atMost: 0 };
  const told = { unit: '', atMost: null };
  return [
    { what: 'kills', value: tally.kills, ...told, note: `of ${tally.runs} automl runs, at random moments` },
    { what: 'of them after a first step', value: tally.killsUnderWay, ...told, note: '' },
    {
      ...{ what: 'finished steps lost', value: tally.lostSteps, ...none },
      note: 'told on standard output before the kill and not, or not as before, in the trace after it',
    },
    { what: 'runs that did not go on', value: tally.failedResumes, ...none, note: '' },
    {
      what: 'problems that the store’s check found',
      value: tally.storeProblems,
      ...none,
      note: 'after every kill',
    },
    {
      what: 'torn last lines',
      value: tally.tornLines,
      ...told,
      note: 'cut off and told when the run goes on',
    },
    {
      ...{ what: 'mounts and processes left over', value: tally.leftOver.length, ...none },
      note: 'when all runs had ended',
    },
    {
      ...{ what: 'runs that ended otherwise', value: tally.diverged, ...none },
      note: 'other actions than the undisturbed run of the seed, or not graded exactly once',
    },
  ];
}
