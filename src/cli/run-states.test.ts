import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { exampleRecord, exampleSpec } from '../../test/fixtures/store/examples.ts';
import { WrittenRun } from '../../test/fixtures/store/recorded-run.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { get, startViewer } from '../../test/fixtures/viewer-place.ts';
import {
  ExperimentName,
  ExperimentPage,
  Grade,
  Outcome,
  type Plan,
  Report,
  ReportPage,
  type ReportRun,
  RunId,
  RunPage,
  type RunSpec,
  RunStatus,
  Strip,
  TaskPage,
} from '../schema/index.ts';
import type { RunningViewer } from '../server/index.ts';
import { createExperiment } from '../store/index.ts';
import { createContext } from './context.ts';
import { report } from './verbs/report.ts';
import { runsExport } from './verbs/runs-export.ts';
import { runsLs } from './verbs/runs-ls.ts';
import { runsShow } from './verbs/runs-show.ts';

/** What the numbers of a run are, whoever shows them. */
interface Shown {
  status: RunStatus;
  outcome: ReportRun['outcome'];
  /** Of the final submission. */
  score: number | null;
  /** Hidden scores by step. */
  grades: Record<number, number>;
  steps: number;
  /** All steps were graded: the run is in curves and in rates at any step. */
  stepsGraded: boolean;
}

interface State extends Shown {
  make: (run: WrittenRun, parent: WrittenRun) => Promise<void>;
}

const newGrader: Partial<Grade> = { grader: 'b'.repeat(64) };
const notFinal: Partial<Grade> = { final: false };

/** Every state that a run may be in when somebody asks for its numbers. */
const states: Record<string, State> = {
  planned: {
    ...{ status: 'pending', outcome: 'unfinished', score: null, grades: {}, steps: 0, stepsGraded: false },
    make: async () => {},
  },
  running: {
    ...{ status: 'running', outcome: 'unfinished', score: null, grades: {}, steps: 2, stepsGraded: false },
    make: async (run) => {
      await run.session(2);
      beginAgain(run);
      const lock = run.folder.lock();
      onTestFinished(() => lock[Symbol.dispose]());
    },
  },
  // Its process said nothing before it died: the record is that of its beginning.
  killed: {
    ...{ status: 'interrupted', outcome: 'unfinished', score: null, steps: 2, stepsGraded: false },
    grades: { 2: 0.91 },
    make: async (run) => {
      await run.session(2);
      run.grade(2, 0.91);
      beginAgain(run);
    },
  },
  interrupted: {
    ...{ status: 'interrupted', outcome: 'unfinished', score: null, steps: 2, stepsGraded: false },
    grades: { 2: 0.91 },
    make: async (run) => {
      await run.session(2);
      // As it was written before: called final, though the run had not ended.
      run.grade(2, 0.91);
    },
  },
  resumed: {
    ...{ status: 'finished', outcome: 'unfinished', score: null, steps: 4, stepsGraded: false },
    grades: { 2: 0.91 },
    make: async (run) => {
      await run.session(2);
      run.grade(2, 0.91);
      await run.session(2, 'final_answer');
    },
  },
  'resumed and graded at its end': {
    ...{ status: 'finished', outcome: 'small_improvement', score: 0.97, steps: 4, stepsGraded: false },
    grades: { 1: 0.92, 2: 0.98, 4: 0.97 },
    make: async (run) => {
      await run.session(2);
      run.grade(1, 0.92, notFinal);
      run.grade(2, 0.98);
      await run.session(2, 'final_answer');
      run.grade(4, 0.97);
    },
  },
  'resumed without a step left to take': {
    ...{ status: 'finished', outcome: 'small_improvement', score: 0.91, steps: 2, stepsGraded: false },
    grades: { 2: 0.91 },
    make: async (run) => {
      await run.session(2);
      run.grade(2, 0.91, notFinal);
      await run.session(0, 'final_answer');
    },
  },
  forked: {
    ...{ status: 'finished', outcome: 'small_improvement', score: 0.97, steps: 2, stepsGraded: false },
    grades: { 2: 0.97 },
    make: async (run, parent) => {
      await run.fork(parent, 1);
      await run.session(1, 'final_answer');
      run.grade(2, 0.97);
    },
  },
  archived: {
    ...{ status: 'finished', outcome: 'small_improvement', score: 0.97, steps: 3, stepsGraded: false },
    grades: { 3: 0.97 },
    make: async (run) => {
      const first = new WrittenRun(run.folder, run.spec);
      await first.session(2);
      first.grade(2, 0.99);
      const attempts = join(run.folder.folder, '../.discarded');
      mkdirSync(attempts);
      renameSync(run.folder.folder, join(attempts, `${run.folder.id}.1`));
      await run.session(3, 'final_answer');
      run.grade(3, 0.97);
    },
  },
  'failed by infrastructure': {
    ...{ status: 'failed', outcome: 'infrastructure', score: null, steps: 2, stepsGraded: false },
    grades: { 2: 0.999 },
    make: async (run) => {
      await run.session(2);
      run.grade(2, 0.999);
      run.record({
        status: 'failed',
        end: { reason: 'infrastructure_error', message: '', cause: 'sandbox' },
      });
    },
  },
  ungraded: {
    ...{ status: 'finished', outcome: 'unfinished', score: null, grades: {}, steps: 2, stepsGraded: false },
    make: async (run) => await run.session(2, 'final_answer'),
  },
  graded: {
    ...{ status: 'finished', outcome: 'success', score: 0.995, steps: 2, stepsGraded: true },
    grades: { 0: 0.5, 1: 0.6, 2: 0.995 },
    make: async (run) => {
      await run.session(2, 'final_answer');
      run.grade(0, 0.5, notFinal);
      run.grade(1, 0.6, notFinal);
      run.grade(2, 0.995);
    },
  },
  'regraded by a newer grader': {
    ...{ status: 'finished', outcome: 'small_improvement', score: 0.97, steps: 2, stepsGraded: false },
    grades: { 2: 0.97 },
    make: async (run) => {
      await run.session(2, 'final_answer');
      run.grade(0, 0.5, notFinal);
      run.grade(1, 0.6, notFinal);
      run.grade(2, 0.995);
      run.grade(2, 0.97, newGrader);
    },
  },
  invalid: {
    ...{ status: 'finished', outcome: 'invalid', score: null, grades: {}, steps: 2, stepsGraded: false },
    make: async (run) => {
      await run.session(2, 'final_answer');
      run.grade(2, 0, { valid: false, score: null });
    },
  },
  'imported and ended by an error': {
    ...{ status: 'finished', outcome: 'infrastructure', score: 0.97, steps: 2, stepsGraded: false },
    grades: { 2: 0.97 },
    make: async (run) => {
      await run.session(2, 'infrastructure_error');
      run.grade(2, 0.97);
    },
  },
};

/** The record as it is while a session works on the run. */
function beginAgain({ folder, spec }: WrittenRun): void {
  folder.writeRecord(exampleRecord({ spec, pid: null }));
}

interface Place {
  scratch: string;
  viewer: RunningViewer;
}

/** An experiment with one run in each state. Its agent is named after the state, so that it has a cell of its own. */
async function makeStates(): Promise<Place> {
  const scratch = temporaryFolder();
  const parent = { ...exampleSpec(), id: RunId.parse('parent'), agent: 'parent' };
  const runs: RunSpec[] = Object.keys(states).map((name, seed) => ({
    ...{ ...exampleSpec(), id: idOf(name), agent: name, seed },
    ...(name === 'forked' ? { parent: { experiment: parent.experiment, run: parent.id, step: 1 } } : {}),
  }));
  const name = ExperimentName.parse('first');
  const plan: Plan = {
    v: 1,
    name,
    created: 0,
    mlab: '0',
    parallel: 1,
    grade: 'final',
    runs: [parent, ...runs],
  };
  const experiment = createExperiment(join(scratch, 'experiments/first'), plan);
  const source = new WrittenRun(experiment.runFolder(parent.id), parent);
  await source.session(3, 'final_answer');
  source.grade(3, 0.9);
  for (const spec of runs)
    await states[spec.agent]?.make(new WrittenRun(experiment.runFolder(spec.id), spec), source);
  return { scratch, viewer: await startViewer([join(scratch, 'experiments')], scratch) };
}

function idOf(state: string): RunId {
  return RunId.parse(state.replaceAll(/[^a-z]+/g, '-'));
}

/** What one reader says of a run; it may show less than all. */
interface Seen {
  status?: RunStatus;
  outcome?: ReportRun['outcome'];
  score?: number | null;
  grades?: Record<number, number>;
  steps?: number;
  seconds?: number;
  tokens?: number;
  money?: number | null;
}

/** Everything that shows numbers of runs, from the outside: what it says of the run in each state. */
const readers: Record<string, (place: Place) => Promise<(id: RunId) => Promise<Seen> | Seen>> = {
  'mlab report --format json': async (place) => {
    const { json } = await report.run(contextOf(place), ['first'], { ...plainReport, format: 'json' });
    const { runs } = Report.parse(json);
    return (id) => seenIn(runs.find(({ run }) => run === id));
  },
  'mlab report --format csv --table runs': async (place) => {
    const flags = { ...plainReport, format: 'csv', table: ['runs'] };
    const { text } = await report.run(contextOf(place), ['first'], flags);
    const rows = rowsOf(text);
    return (id) => seenInRow(rows.find(({ run }) => run === `first/${id}`));
  },
  'mlab report --format markdown --table runs': async (place) => {
    const flags = { ...plainReport, format: 'markdown', table: ['runs'] };
    const { text } = await report.run(contextOf(place), ['first'], flags);
    return (id) => ({
      outcome: outcomeIn(text.split('\n').find((line) => line.includes(`first/${id} `)) ?? ''),
    });
  },
  'mlab runs ls': async (place) => {
    const { json } = await runsLs.run(contextOf(place), ['first'], {});
    const { runs } = z.object({ runs: Report.shape.runs }).parse(json);
    return (id) => seenIn(runs.find(({ run }) => run === id));
  },
  'mlab runs show': async (place) => async (id) => {
    const { json, text } = await runsShow.run(contextOf(place), [`first/${id}`], {});
    const found = z.object({ steps: z.array(z.unknown()), grades: z.array(Grade).default([]) }).parse(json);
    const [, , used = '0 steps, 0 s, not graded', models] = text.split('\n');
    const [, seconds, score] = /^\d+ steps, ([\d.]+) s, (?:score ([\d.]+) )?/.exec(used) ?? [];
    return {
      steps: found.steps.length,
      grades: scoresOf(found.grades),
      ...{ seconds: Number(seconds), score: score === undefined ? null : Number(score) },
      ...(models === undefined || !models.includes('tokens') ? {} : { tokens: tokensIn(models) }),
    };
  },
  'mlab runs export --to csv': async (place) => {
    const out = join(place.scratch, 'csv');
    await runsExport.run(contextOf(place), ['first'], { to: 'csv', out });
    const runs = rowsOf(readFileSync(join(out, 'runs.csv'), 'utf8'));
    const steps = rowsOf(readFileSync(join(out, 'steps.csv'), 'utf8'));
    return (id) => {
      const row = runs.find(({ run }) => run === id);
      // Runs that have not begun are not exported.
      if (row === undefined) return {};
      const { status, score, tokens, money, seconds } = row;
      const scored = steps.filter((step) => step.run === id && step.score !== '');
      return {
        ...{ status: RunStatus.parse(status), score: numberOf(score), steps: Number(row.steps) },
        ...{ seconds: numberOf(seconds) ?? 0, tokens: Number(tokens), money: numberOf(money) },
        grades: Object.fromEntries(scored.map((step) => [step.step, Number(step.score)])),
      };
    };
  },
  'mlab runs export --to jsonl': async (place) => {
    const out = join(place.scratch, 'jsonl');
    await runsExport.run(contextOf(place), ['first'], { to: 'jsonl', out });
    return (id) => {
      const path = join(out, `${id}.jsonl`);
      if (!existsSync(path)) return {};
      const lines = readFileSync(path, 'utf8').trim().split('\n');
      const steps = lines.map((line) => ExportedStep.parse(JSON.parse(line)));
      const scored = steps.flatMap(({ step, grade }) => (grade?.score == null ? [] : [[step, grade.score]]));
      return { steps: steps.length, grades: Object.fromEntries(scored) };
    };
  },
  'the viewer, page of the experiment': async ({ viewer }) => {
    const ask = () => get(viewer, '/api/experiments/first', ExperimentPage);
    const { runs } = await until(ask, ({ line }) => line.statuses.running === 1);
    return (id) => {
      const line = runs.find(({ run }) => run === id);
      if (line === undefined) throw new Error(`the page does not list ${id}`);
      const { status, steps, used } = line;
      return { status, steps, seconds: used.seconds, tokens: used.tokens, money: used.money };
    };
  },
  'the viewer, page of the run':
    async ({ viewer }) =>
    async (id) => {
      const address = `/api/experiments/first/runs/${id}`;
      const page = await settled(() => get(viewer, address, RunPage));
      const { evaluation } = page;
      const strip = await settled(() => get(viewer, `${address}/strip`, Strip));
      expect(scoresOf(strip.grades)).toEqual(scoresOf(evaluation?.grades ?? []));
      return {
        ...{ status: page.status, steps: page.steps, seconds: page.seconds_used },
        score: evaluation?.grades.find(({ final }) => final)?.score ?? null,
        grades: scoresOf(evaluation?.grades ?? []),
      };
    },
  'the viewer, report': async ({ viewer }) => {
    const page = await settled(() => get(viewer, '/api/experiments/first/report', ReportPage));
    return (id) => seenIn(page.report?.runs.find(({ run }) => run === id));
  },
  'the viewer, page of the task': async ({ viewer }) => {
    await settled(() => get(viewer, '/api/experiments/first/report', ReportPage));
    const { runs } = await get(viewer, '/api/tasks/digits', TaskPage);
    return (id) => {
      const { line, result } = runs.find((one) => one.line.run === id) ?? {};
      // What nothing but a running process tells is in no index.
      const seen = result == null ? {} : seenIn(result);
      return { ...seen, ...(line === undefined ? {} : { status: line.status }) };
    };
  },
};

const plainReport = { convention: 'every-run' };
const ExportedStep = z.object({
  step: z.int(),
  grade: z.object({ score: z.number().nullable() }).nullable(),
});

function contextOf({ scratch }: Place) {
  const place = { dir: join(scratch, 'experiments') };
  const context = createContext(place, process.env, 'test', new AbortController().signal);
  return { ...context, log: () => {} };
}

/** What the viewer makes in the background comes in time. */
async function settled<Page extends { pending: unknown }>(ask: () => Promise<Page>): Promise<Page> {
  return await until(ask, ({ pending }) => pending === null || pending === false);
}

async function until<Page>(ask: () => Promise<Page>, isReady: (page: Page) => boolean): Promise<Page> {
  for (const end = Date.now() + 20_000; Date.now() < end; await setTimeout(20)) {
    const page = await ask();
    if (isReady(page)) return page;
  }
  throw new Error('the viewer did not come to an end');
}

function seenIn(run: ReportRun | undefined): Seen {
  if (run === undefined) throw new Error('the run is not there');
  const { status, outcome, score, steps, seconds, tokens, money } = run;
  return { status, outcome, score, steps, seconds, tokens, money };
}

function seenInRow(row: Record<string, string> | undefined): Seen {
  if (row === undefined) throw new Error('the run is not there');
  const { outcome = '', score, steps, tokens, seconds, money } = row;
  return {
    ...{ outcome: outcomeIn(outcome), score: numberOf(score), steps: Number(steps) },
    ...{ tokens: Number(tokens), seconds: Number(seconds), money: numberOf(money) },
  };
}

/** The outcome that a line of text names. */
function outcomeIn(line: string): ReportRun['outcome'] {
  const named = Outcome.options.findLast((outcome) => line.includes(outcome.replaceAll('_', ' ')));
  if (named === undefined) throw new Error(`no outcome in: ${line}`);
  return named;
}

function rowsOf(csv: string): Record<string, string>[] {
  const [head = [], ...rows] = csv
    .trim()
    .split(/\r?\n/)
    .map((line) => line.split(','));
  return rows.map((row) => Object.fromEntries(row.map((cell, index) => [head[index] ?? '', cell])));
}

function numberOf(text: string | undefined): number | null {
  return text === undefined || text === '' ? null : Number(text);
}

function tokensIn(line: string): number {
  return Number(/([\d.]+) tokens/.exec(line)?.[1]);
}

function scoresOf(grades: readonly { step: number; score: number | null }[]): Record<number, number> {
  return Object.fromEntries(grades.flatMap(({ step, score }) => (score === null ? [] : [[step, score]])));
}

test('whoever shows a number of a run shows that of the state that it is in', async () => {
  const place = await makeStates();
  for (const [reader, open] of Object.entries(readers)) {
    const read = await open(place);
    for (const [name, { status, outcome, score, grades, steps }] of Object.entries(states)) {
      const used = { seconds: 10 * steps, tokens: 1240 * steps, money: 0.0015 * steps };
      const shown = await read(idOf(name));
      expect
        .soft({ status, outcome, score, grades, steps, ...used }, `${reader}: ${name}`)
        .toMatchObject(shown);
    }
  }
});

test('a cell counts what ended and is graded; curves and rates at any step are of runs with every step graded', async () => {
  const place = await makeStates();
  const { json } = await report.run(contextOf(place), ['first'], { ...plainReport, format: 'json' });
  const { cells, curves } = Report.parse(json);
  const withCurve = new Set(curves.map(({ agent }) => agent));
  for (const [name, { outcome, score, stepsGraded }] of Object.entries(states)) {
    const cell = cells.find(({ agent }) => agent === name);
    const judged = Number(outcome !== 'unfinished');
    expect.soft(cell, name).toMatchObject({
      ...{ runs: 1, unfinished: 1 - judged, valid: Number(score !== null) },
      success: { runs: judged, successes: Number(outcome === 'success') },
    });
    expect.soft(cell?.thresholds[0]?.any_step.runs, name).toBe(Number(stepsGraded));
    expect.soft(withCurve.has(name), name).toBe(stepsGraded);
  }
});
