import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { idOf, makeStates, type Shown, states } from '../../test/fixtures/store/run-states.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { get, startViewer } from '../../test/fixtures/viewer-place.ts';
import {
  EndReason,
  ExperimentPage,
  Grade,
  Outcome,
  Report,
  ReportPage,
  type ReportRun,
  type RunId,
  RunPage,
  RunStatus,
  TaskPage,
  Timeline,
} from '../schema/index.ts';
import type { RunningViewer } from '../server/index.ts';
import { createContext } from './context.ts';
import { report } from './verbs/report.ts';
import { runsExport } from './verbs/runs-export.ts';
import { runsLs } from './verbs/runs-ls.ts';
import { runsShow } from './verbs/runs-show.ts';

interface Place {
  scratch: string;
  viewer: RunningViewer;
}

/** A folder with a single experiment that has a run in each state. */
async function scratchWithStates(): Promise<string> {
  const scratch = temporaryFolder();
  await makeStates(join(scratch, 'experiments'));
  return scratch;
}

/** What one command or page shows of a run: some of its figures. */
interface Seen extends Partial<Omit<Shown, 'stepsGraded'>> {
  end?: EndReason | null;
  seconds?: number;
  tokens?: number;
  money?: number | null;
}

/** Everything that shows numbers of runs, and how to read what it shows of the run in each state. */
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
    const listed = typeof json === 'function' ? await json() : json;
    const { runs } = z.object({ runs: Report.shape.runs }).parse(listed);
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
      if (row === undefined) throw new Error(`the table lacks ${id}`);
      const { status, end = '', outcome, score, tokens, money, seconds } = row;
      const scored = steps.filter((step) => step.run === id && step.score !== '');
      return {
        ...{ status: RunStatus.parse(status), end: end === '' ? null : EndReason.parse(end) },
        ...{ outcome: Outcome.parse(outcome), score: numberOf(score), steps: Number(row.steps) },
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
      const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
      const steps = lines.map((line) => ExportedStep.parse(JSON.parse(line)));
      const end = steps.at(-1)?.end;
      const scored = steps.flatMap(({ step, grade }) => (grade?.score == null ? [] : [[step, grade.score]]));
      return {
        ...{ steps: steps.length, grades: Object.fromEntries(scored) },
        ...(end === undefined ? {} : { end: end?.reason ?? null }),
      };
    };
  },
  'the viewer, page of the experiment': async ({ viewer }) => {
    const ask = () => get(viewer, '/api/experiments/first', ExperimentPage);
    const { runs } = await until(ask, ({ line }) => line.states.running === 1);
    return (id) => {
      const line = runs.find(({ run }) => run === id);
      if (line === undefined) throw new Error(`the page does not list ${id}`);
      const { status, end, steps, used } = line;
      return { status, end, steps, seconds: used.seconds, tokens: used.tokens, money: used.money };
    };
  },
  'the viewer, page of the run':
    async ({ viewer }) =>
    async (id) => {
      const address = `/api/experiments/first/runs/${id}`;
      const page = await settled(() => get(viewer, address, RunPage));
      const { evaluation } = page;
      const timeline = await settled(() => get(viewer, `${address}/timeline`, Timeline));
      expect(scoresOf(timeline.grades)).toEqual(scoresOf(evaluation?.grades ?? []));
      return {
        ...{ status: page.status, end: page.end?.reason ?? null },
        ...{ steps: page.steps, seconds: page.seconds_used },
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
      // The index lacks what only a running process knows.
      const seen = result == null ? {} : seenIn(result);
      return { ...seen, ...(line === undefined ? {} : { status: line.status }) };
    };
  },
};

const plainReport = { convention: 'every-run' };
const ExportedStep = z.object({
  step: z.int(),
  grade: z.object({ score: z.number().nullable() }).nullable(),
  end: z.object({ reason: EndReason }).nullable().optional(),
});

function contextOf({ scratch }: Pick<Place, 'scratch'>) {
  const place = { dir: join(scratch, 'experiments') };
  const context = createContext(place, process.env, 'test', new AbortController().signal);
  return { ...context, folders: { ...context.folders, tasks: [] }, log: () => {} };
}

/** Waits for what the viewer makes in the background. */
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
  return { status, outcome, end: run.end?.reason ?? null, score, steps, seconds, tokens, money };
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

function endOf(status: RunStatus, outcome: Shown['outcome']): EndReason | null {
  if (outcome === 'infrastructure') return 'infrastructure_error';
  return status === 'finished' ? 'final_answer' : null;
}

test('every command and page that shows numbers of a run shows those of its current state', async () => {
  const scratch = await scratchWithStates();
  const place = { scratch, viewer: await startViewer([join(scratch, 'experiments')], scratch) };
  for (const [reader, open] of Object.entries(readers)) {
    const read = await open(place);
    for (const [name, { status, outcome, score, grades, steps }] of Object.entries(states)) {
      const used = { seconds: 10 * steps, tokens: 1240 * steps, money: 0.0015 * steps };
      const shown = await read(idOf(name));
      expect
        .soft(
          { status, outcome, end: endOf(status, outcome), score, grades, steps, ...used },
          `${reader}: ${name}`,
        )
        .toMatchObject(shown);
    }
  }
});

test('a task–agent pair counts only graded runs that ended; curves and rates at any step need every step graded', async () => {
  const scratch = await scratchWithStates();
  const { json } = await report.run(contextOf({ scratch }), ['first'], { ...plainReport, format: 'json' });
  const { pairs, curves } = Report.parse(json);
  const withCurve = new Set(curves.map(({ agent }) => agent));
  for (const [name, { outcome, score, stepsGraded }] of Object.entries(states)) {
    const cell = pairs.find(({ agent }) => agent === name);
    const judged = Number(outcome !== 'unfinished');
    expect.soft(cell, name).toMatchObject({
      ...{ runs: 1, unfinished: 1 - judged, valid: Number(score !== null) },
      success: { runs: judged, successes: Number(outcome === 'success') },
    });
    expect.soft(cell?.thresholds[0]?.any_step.runs, name).toBe(Number(stepsGraded));
    expect.soft(withCurve.has(name), name).toBe(stepsGraded);
  }
});
