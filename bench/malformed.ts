import { join } from 'node:path';
import { actionDefinitions, type StepResult } from '../src/environment/index.ts';
import { messageOf } from '../src/lib/errors.ts';
import type { Action, ActionStatus } from '../src/schema/index.ts';
import { checkRun, readTraceSync, stepsOf } from '../src/store/index.ts';
import { type BenchRunOptions, openBenchRun } from './bench-run.ts';
import { type Benchmark, type Measurement, median, quantile } from './benchmark.ts';
import { malformedActions } from './malformed-actions.ts';
import { provision, requireSandbox } from './task-resources.ts';

const batch = 250;
/** The allowed outcomes of a malformed action, or of one that happens to be valid. */
const expected: ReadonlySet<ActionStatus> = new Set<ActionStatus>([
  'ok',
  'failed',
  'invalid',
  'refused',
  'timed_out',
]);

/** The results of all actions. */
interface Tally {
  statuses: Map<string, number>;
  exceptions: number;
  wrongStatuses: number;
  useless: number;
  milliseconds: number[];
}

export const malformed: Benchmark = {
  name: 'malformed',
  summary: '20,000 malformed actions: does the run survive each with a useful answer',
  async measure({ quick, scratch, cache, log, signal }) {
    const count = quick ? 300 : 20_000;
    await requireSandbox();
    const resources = await provision(cache, signal);
    const options = {
      resources,
      folder: join(scratch, 'experiment'),
      sandbox: 'bubblewrap',
      signal,
    } as const;
    const tally: Tally = {
      statuses: new Map(),
      exceptions: 0,
      wrongStatuses: 0,
      useless: 0,
      milliseconds: [],
    };
    const answers: string[] = [];
    {
      await using run = await openBenchRun(options);
      for (const [index, asked] of generated(count)) {
        const start = performance.now();
        const answer = await attempt(() => run.environment.step(asked as Action));
        tally.milliseconds.push(performance.now() - start);
        judge(asked, answer, tally, log);
        answers.push(answerText(answer));
        if (index % 2_000 === 1_999) log(`${index + 1} actions`);
      }
    }
    return measurementsOf(tally, count, await afterwards(options, count, answers, log));
  },
};

/** All actions, made in batches, because together they would not fit into memory. */
function* generated(count: number): Generator<[number, unknown]> {
  for (let from = 0; from < count; from += batch) {
    const actions = malformedActions(Math.min(batch, count - from), from + 1);
    for (const [index, action] of actions.entries()) yield [from + index, action];
  }
}

type Attempt = StepResult | { thrown: unknown };

async function attempt(step: () => Promise<StepResult>): Promise<Attempt> {
  try {
    return await step();
  } catch (error) {
    return { thrown: error };
  }
}

function judge(asked: unknown, answer: Attempt, tally: Tally, log: (line: string) => void): void {
  const complain = (what: string) => log(`${what}\n  after: ${shown(asked)}`);
  if ('thrown' in answer) {
    tally.exceptions += 1;
    complain(`exception: ${messageOf(answer.thrown)}`);
    return;
  }
  const { status, observation } = answer;
  tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1);
  if (!expected.has(status)) {
    tally.wrongStatuses += 1;
    complain(`${status}: ${observation.slice(0, 300)}`);
  }
  if (!isUseful(asked, status, observation)) {
    tally.useless += 1;
    complain(`useless: ${observation.slice(0, 300)}`);
  }
}

/** Whether the answer says something and, if the action is wrong, which actions or arguments are expected. */
function isUseful(asked: unknown, status: ActionStatus, observation: string): boolean {
  // The content of a script or a file may be anything, even empty.
  if (status === 'ok') return true;
  if (observation.trim() === '') return false;
  if (status !== 'invalid') return true;
  const name = typeof asked === 'object' && asked !== null && 'name' in asked ? asked.name : null;
  const definition = typeof name === 'string' ? actionDefinitions.get(name) : undefined;
  const words =
    definition === undefined ? [...actionDefinitions.keys()] : Object.keys(definition.schema.shape);
  return words.every((word) => observation.includes(word));
}

interface Afterwards {
  finished: number;
  problems: number;
  replayedOtherwise: number;
}

/** Whether the trace has all of it, passes the store's check, and gives a resumed run the same answers. */
async function afterwards(
  options: BenchRunOptions,
  count: number,
  answers: readonly string[],
  log: (line: string) => void,
): Promise<Afterwards> {
  log('replaying them as a resumed run does');
  await using run = await openBenchRun(options);
  const finished = stepsOf(readTraceSync(run.folder.tracePath).events).length;
  const problems = await checkRun(run.folder);
  for (const { code, where, message } of problems) log(`${code}: ${where}: ${message}`);
  let replayedOtherwise = 0;
  for (const [index, asked] of generated(count)) {
    const answer = await attempt(() => run.environment.step(asked as Action));
    if (answerText(answer) === answers[index]) continue;
    replayedOtherwise += 1;
    log(`replayed otherwise: ${answerText(answer).slice(0, 300)}\n  after: ${shown(asked)}`);
  }
  return { finished, problems: problems.length, replayedOtherwise };
}

function answerText(answer: Attempt): string {
  if ('thrown' in answer) return `exception: ${messageOf(answer.thrown)}`;
  return `${answer.step} ${answer.status} ${answer.observation.toWellFormed()}`;
}

function shown(asked: unknown): string {
  try {
    return (JSON.stringify(asked) ?? String(asked)).slice(0, 300);
  } catch {
    return Object.prototype.toString.call(asked);
  }
}

function measurementsOf(tally: Tally, count: number, after: Afterwards): Measurement[] {
  const none = { unit: '', atMost: 0 };
  const common = { unit: 'ms', atMost: null };
  const statuses = [...tally.statuses].map(([status, number]) => `${number} ${status}`).join(', ');
  return [
    { what: 'malformed actions', value: count, unit: '', atMost: null, note: statuses },
    { what: 'exceptions', value: tally.exceptions, ...none, note: '' },
    { what: 'faults of ours or other strange statuses', value: tally.wrongStatuses, ...none, note: '' },
    {
      ...{ what: 'answers that do not help', value: tally.useless, ...none },
      note: 'empty, or without the names of the actions or arguments that are expected',
    },
    { what: 'steps missing in the trace', value: count - after.finished, ...none, note: '' },
    { what: 'problems that the store’s check found', value: after.problems, ...none, note: '' },
    { what: 'answers that a resumed run gets otherwise', value: after.replayedOtherwise, ...none, note: '' },
    { what: 'time of one', value: median(tally.milliseconds), ...common, note: 'median, with its work' },
    { what: 'the slowest of a hundred', value: quantile(tally.milliseconds, 0.99), ...common, note: '' },
    { what: 'the slowest', value: Math.max(...tally.milliseconds), ...common, note: '' },
  ];
}
