import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ownEvents, readTraceSync } from '../../src/store/index.ts';
import type { BenchContext } from '../benchmark.ts';
import { decideAll } from './decider.ts';
import { Inspector, knownMarks, type Outcome, outcomeOf } from './inspector.ts';
import type { OpenedRun } from './kinds.ts';
import { filesOf, processesLeft } from './left-over.ts';
import { type Life, type Standby, standBy } from './life.ts';
import type { Aim } from './marks.ts';
import type { Tally } from './tally.ts';

/** How often one run is killed at most, in all and when only its grading is left. */
const maxKills = 14;
const maxInGrading = 3;

/** A run that was not disturbed. */
export interface WholeRun {
  opened: OpenedRun;
  outcome: Outcome;
  files: ReadonlySet<string>;
  milliseconds: number;
}

export interface KillingOptions {
  context: BenchContext;
  kills: number;
  tally: Tally;
  random: () => number;
  variables: NodeJS.ProcessEnv;
  pids: Set<number>;
}

/** One of several concurrent harnesses that are killed: the next process prepares while the last one works. */
export class Killing {
  readonly #options: KillingOptions;
  #next: Standby;

  constructor(options: KillingOptions) {
    this.#options = options;
    this.#next = this.#standBy();
  }

  /** @throws Error if an undisturbed run fails, because then nothing can be compared */
  async whole(opened: OpenedRun): Promise<WholeRun> {
    const life = await this.#live(opened, [], null, null, () => false);
    if (life.end !== 'done') throw new Error(`an undisturbed run ended with: ${life.complaint}`);
    const files = new Set(filesOf(opened.run.folder));
    return { opened, outcome: outcomeOf(opened.run), files, milliseconds: life.milliseconds };
  }

  /** Kills the process that executes a run, checks what is left, and starts it again; until the run ends. */
  async killUntilDone(opened: OpenedRun, whole: WholeRun): Promise<void> {
    const { tally, kills, random, context } = this.#options;
    const { run, experiment, kind } = opened;
    const inspector = new Inspector(run);
    let times = 0;
    let inGrading = 0;
    const mayKill = () => times < maxKills && inGrading < maxInGrading && tally.kills < kills;
    for (;;) {
      const known = knownMarks(run);
      const isAimed = mayKill() && random() < 0.6;
      const aim = isAimed ? this.#aimAt(kind.marks.filter((mark) => isAhead(mark, opened))) : null;
      const killAfter = mayKill() && !isAimed ? random() * whole.milliseconds : null;
      const life = await this.#live(opened, known, aim, killAfter, mayKill);
      this.#look(await inspector.look(life.finished), opened);
      const left = await processesLeft(experiment.folder);
      for (const one of left) this.#leftOver(one);
      if (life.end === 'failed') {
        tally.failedResumes += 1;
        context.log(`${run.folder} was not resumed: ${life.complaint}`);
        return;
      }
      if (life.end === 'done') break;
      if (run.readRecord()?.status === 'finished') inGrading += 1;
      tally.killed(doingOf(life, opened));
      times += 1;
    }
    for (const file of filesOf(run.folder))
      if (!whole.files.has(file)) this.#leftOver(join(run.folder, file));
    this.#compare(opened, whole);
  }

  /** No more instructions are given. */
  async end(): Promise<void> {
    await this.#next.dismiss();
  }

  #standBy(): Standby {
    const { context, variables } = this.#options;
    return standBy(context.cache, variables, context.signal);
  }

  async #live(
    opened: OpenedRun,
    known: string[],
    aim: Aim | null,
    killAfter: number | null,
    mayKill: () => boolean,
  ): Promise<Life> {
    const { random, variables, context, tally, pids } = this.#options;
    const { experiment, run, parent, kind } = opened;
    const ready = this.#next;
    this.#next = this.#standBy();
    const work = { experiment: experiment.folder, parent, gated: kind.gated, known, aim };
    if (!kind.later) return noted(await ready.live(work, killAfter), pids);
    const ended = new AbortController();
    const deciding = decideAll({
      ...{ run, experiment: experiment.plan.name, experiments: context.scratch, variables, random, mayKill },
      ...{ onKill: () => tally.killed(['mlab decide']), signal: ended.signal },
    });
    try {
      return noted(await ready.live(work, killAfter), pids);
    } finally {
      ended.abort();
      await deciding;
    }
  }

  #aimAt(marks: readonly string[]): Aim | null {
    const { random } = this.#options;
    const mark = marks[Math.floor(random() * marks.length)];
    if (mark === undefined) return null;
    const many = ['step', 'model', 'gate', 'fork', 'select'].includes(mark);
    // Short operations are hit at their beginning, long ones anywhere.
    const longest = random() < 0.5 ? 1 : (usualMs[mark] ?? 30);
    return { mark, times: many ? 1 + Math.floor(random() * 3) : 1, afterMs: random() * longest };
  }

  #look(
    { lostSteps, problems, tornLines }: Awaited<ReturnType<Inspector['look']>>,
    { run }: OpenedRun,
  ): void {
    const { tally, context } = this.#options;
    tally.lostSteps += lostSteps.length;
    tally.storeProblems += problems.length;
    tally.tornLines += tornLines;
    for (const step of lostSteps) context.log(`${run.folder}: step ${step} is lost`);
    for (const { code, where, message } of problems) context.log(`${code}: ${where}: ${message}`);
  }

  #leftOver(what: string): void {
    this.#options.tally.leftOver.push(what);
  }

  #compare({ run }: OpenedRun, { outcome }: WholeRun): void {
    const { tally, context } = this.#options;
    const found = outcomeOf(run);
    if (isDeepStrictEqual(found, outcome)) return;
    tally.differing += 1;
    context.log(`${run.folder} ended otherwise: ${JSON.stringify(found)}, not ${JSON.stringify(outcome)}`);
  }
}

/** How long something takes, roughly. */
const usualMs: Readonly<Record<string, number>> = {
  ...{ fork: 60, select: 0.3, gate: 15, end: 40, grade: 500, resume: 150, start: 150, wait: 600 },
};

function noted(life: Life, pids: Set<number>): Life {
  pids.add(life.pid);
  return life;
}

/** Once a run has ended, only grading is left. */
function isAhead(mark: string, { run }: OpenedRun): boolean {
  const status = run.readRecord()?.status;
  if (status === 'finished') return mark === 'grade';
  return mark === 'start' ? status === undefined : mark !== 'resume' || status !== undefined;
}

/** What a process was doing when it died, from its reports and from the store. */
function doingOf({ doing }: Life, { run, parent, experiment }: OpenedRun): string[] {
  if (doing.length === 0) return ['between two things'];
  return doing.map((mark) => {
    const [name = ''] = mark.split(' ');
    if (name === 'grade' || name === 'end') {
      if (run.readRecord()?.status !== 'finished') return 'ending';
      return existsSync(run.tracePath) ? 'compressing the trace' : 'grading';
    }
    if (name === 'start' || name === 'resume')
      return isCopied(run, parent, experiment) ? (said[name] ?? name) : 'copying a run';
    return said[name] ?? name;
  });
}

const said: Readonly<Record<string, string>> = {
  ...{
    start: 'starting',
    resume: 'resuming',
    fork: 'forking',
    select: 'selecting',
    wait: 'waiting for decisions',
  },
  ...{ gate: 'asking the gate', model: 'asking a model', step: 'taking a step' },
};

/** Whether a fork has all of its parent's events. */
function isCopied(run: OpenedRun['run'], parent: string | null, { plan }: OpenedRun['experiment']): boolean {
  if (parent === null) return true;
  return run.hasTrace() && ownEvents(readTraceSync(run.tracePath).events, plan.runs[0]?.parent).length > 0;
}
