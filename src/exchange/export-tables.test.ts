import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { expect, test } from 'vitest';
import { makeBranchedRun } from '../../test/fixtures/store/branched-run.ts';
import { examplePlan, exampleSpec } from '../../test/fixtures/store/examples.ts';
import { WrittenRun } from '../../test/fixtures/store/recorded-run.ts';
import { idOf, makeStates } from '../../test/fixtures/store/run-states.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { evaluationsOf } from '../evaluation/index.ts';
import { buildReport } from '../statistics/index.ts';
import { createExperiment, type Experiment, openExperiment } from '../store/index.ts';
import { exportRuns, exportTables, type TableFormat, type TableName, tableNames } from './index.ts';

interface Changes {
  names?: readonly TableName[];
  log?: string[];
  signal?: AbortSignal;
}

async function exportAll(experiment: Experiment, to: TableFormat, out: string, changes: Changes = {}) {
  const { names, log = [], signal = new AbortController().signal } = changes;
  const chosen = [{ experiment, folders: experiment.runIds.map((id) => experiment.runFolder(id)) }];
  return await exportTables({ chosen, to, out, names, onProgress: (line) => log.push(line), signal });
}

async function rowsOf(folder: string, name: TableName): Promise<Record<string, unknown>[]> {
  const compressors = { ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes) };
  return await parquetReadObjects({
    file: await asyncBufferFromFile(join(folder, `${name}.parquet`)),
    compressors,
  });
}

/** An experiment with one run, of two steps. */
async function oneRun(scratch: string): Promise<{ experiment: Experiment; run: WrittenRun }> {
  const experiment = createExperiment(join(scratch, 'experiments/first'), examplePlan(['digits-baseline-0']));
  const run = new WrittenRun(experiment.runFolder('digits-baseline-0'), exampleSpec());
  await run.session(2, 'final_answer');
  run.grade(2, 0.995);
  return { experiment, run };
}

test('each table is a Parquet file with typed columns', async () => {
  const scratch = temporaryFolder();
  const { experiment } = await oneRun(scratch);
  const exported = await exportAll(experiment, 'parquet', join(scratch, 'out'));
  expect(exported).toMatchObject({
    rows: { runs: 1, steps: 2, grades: 1, calls: 2 },
    unreadable: [],
  });
  const [run] = await rowsOf(exported.folder, 'runs');
  expect(run).toMatchObject({
    ...{ experiment: 'first', run: 'digits-baseline-0', agent: 'baseline', agent_options: '{}', seed: 0n },
    ...{ model: null, status: 'finished', end: 'final_answer', outcome: 'success', success: true },
    ...{ started: new Date(1_790_000_000_000), score: 0.995, baseline: 0.9, seconds: 20, tokens: 2480n },
    ...{ money: 0.003, gpu_seconds: null, flags: [], caveats: [] },
  });
  const [, step] = await rowsOf(exported.folder, 'steps');
  expect(step).toMatchObject({
    ...{ step: 2n, in_history: true, action: 'Execute Script', status: 'ok', tokens_used: 2480n },
    ...{ seconds_used: 20, valid: true, score: 0.995 },
  });
  expect(await rowsOf(exported.folder, 'grades')).toMatchObject([
    { step: 2n, final: true, score: 0.995, direction: 'maximize', problems: [], details: '{}' },
  ]);
  const [call] = await rowsOf(exported.folder, 'calls');
  expect(call).toMatchObject({
    ...{ call: 1n, step: null, role: 'agent', model: 'anthropic/claude-sonnet-4-5' },
    ...{ prompt_tokens: 1200n, completion_tokens: 40n, cost: 0.0015, latency_ms: 1830.5, failure: null },
  });
});

test('what somebody replaced is exported as what was performed, beside what the agent wanted', async () => {
  const scratch = temporaryFolder();
  const experiment = createExperiment(join(scratch, 'experiments/first'), examplePlan(['digits-baseline-0']));
  const run = new WrittenRun(experiment.runFolder('digits-baseline-0'), exampleSpec());
  const instead = { name: 'Read File', args: { file_name: 'a.txt' } };
  await run.session(2, 'final_answer', instead);
  const tables = await exportAll(experiment, 'parquet', join(scratch, 'tables'));
  expect(await rowsOf(tables.folder, 'steps')).toMatchObject([
    {
      ...{ action: 'Read File', args: JSON.stringify(instead.args) },
      ...{ proposed_action: 'Execute Script', proposed_args: '{"script_name":"train.py"}' },
    },
    { action: 'Execute Script', proposed_action: null, proposed_args: null },
  ]);
  const signal = new AbortController().signal;
  const out = join(scratch, 'lines');
  const folders = [run.folder];
  await exportRuns({ folders, to: 'jsonl', out, variables: {}, onProgress: () => {}, signal });
  const text = readFileSync(join(out, 'digits-baseline-0.jsonl'), 'utf8');
  const lines = text.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    {
      ...{ action: 'Read File', args: instead.args },
      proposed: { action: 'Execute Script', args: { script_name: 'train.py' } },
    },
    { action: 'Execute Script', proposed: null },
  ]);
});

test('of several experiments, agents have the labels of a report on all, and copies of runs are in no table', async () => {
  const scratch = temporaryFolder();
  const { experiment } = await oneRun(scratch);
  const copy = join(scratch, 'experiments/copy');
  cpSync(experiment.folder, copy, { recursive: true });
  const other = createExperiment(join(scratch, 'experiments/later'), examplePlan(['digits-baseline-0']));
  const source = { agent_version: '2.0.0' };
  const run = new WrittenRun(other.runFolder('digits-baseline-0'), { ...exampleSpec(), ...source });
  await run.session(1, 'final_answer');
  const { signal } = new AbortController();
  const log: string[] = [];
  const experiments = [experiment, openExperiment(copy), other];
  const { folder, rows } = await exportTables({
    chosen: experiments.map((each) => ({
      experiment: each,
      folders: each.runIds.map((id) => each.runFolder(id)),
    })),
    ...{ to: 'parquet', out: join(scratch, 'out'), onProgress: (line) => log.push(line) },
    signal,
  });
  expect(rows).toMatchObject({ runs: 2, steps: 3 });
  const { evaluations } = await evaluationsOf({ log: () => {}, signal }, experiments);
  const reported = buildReport(evaluations).runs.map(({ experiment: name, agent }) => `${name} ${agent}`);
  const exported = (await rowsOf(folder, 'runs')).map(({ experiment: name, agent }) => `${name} ${agent}`);
  expect(exported.sort()).toEqual(reported.sort());
  expect(new Set(exported.map((each) => each.split(' ')[1])).size).toBe(2);
  expect(log).toContain('copy: left out, as copies of runs in first: digits-baseline-0');
});

test('unfinished runs have no result, and the mean of success is the rate of the report', async () => {
  const scratch = temporaryFolder();
  await makeStates(join(scratch, 'experiments'));
  const experiment = openExperiment(join(scratch, 'experiments/first'));
  const { folder } = await exportAll(experiment, 'parquet', join(scratch, 'out'));
  const runs = await rowsOf(folder, 'runs');
  expect(runs.map(({ run }) => run)).toEqual(experiment.runIds);
  const planned = runs.find(({ run }) => run === idOf('planned'));
  expect(planned).toMatchObject({ status: 'pending', started: null, score: null, success: null, steps: 0n });
  const surroundings = { log: () => {}, signal: new AbortController().signal };
  const { evaluations } = await evaluationsOf(surroundings, [experiment]);
  const { pairs } = buildReport(evaluations);
  for (const { agent, success } of pairs) {
    const known = runs.filter((run) => run.agent === agent && run.success !== null);
    expect.soft(known.length, agent).toBe(success.runs);
    expect.soft(known.filter((run) => run.success === true).length, agent).toBe(success.successes);
  }
});

test('the tables have the steps, grades and calls of all branches, and mark those in the graded history', async () => {
  const scratch = temporaryFolder();
  await makeBranchedRun(scratch);
  const experiment = openExperiment(join(scratch, 'branched'));
  const { folder } = await exportAll(experiment, 'parquet', join(scratch, 'out'));
  const placeOf = ({ branch, step, in_history }: Record<string, unknown>) =>
    `${branch} ${step} ${in_history}`;
  expect((await rowsOf(folder, 'steps')).map(placeOf).sort()).toEqual([
    ...['b1 2 true', 'b1 3 true', 'b2 3 false', 'main 1 true', 'main 2 false', 'main 3 false'],
  ]);
  const grades = await rowsOf(folder, 'grades');
  expect(grades.map((grade) => `${placeOf(grade)} ${grade.score}`)).toEqual([
    ...['b1 3 true 0.9', 'main 3 false 0.5'],
  ]);
  expect(await rowsOf(folder, 'runs')).toMatchObject([{ steps: 6n, score: 0.9 }, { steps: 0n }]);
});

test('the calls that a fork took over from another run are marked', async () => {
  const scratch = temporaryFolder();
  const { run: source } = await oneRun(scratch);
  const parent = { experiment: source.spec.experiment, run: source.spec.id, step: 1 };
  const spec = { ...exampleSpec('fork'), parent };
  const plan = { ...examplePlan(['fork']), runs: [spec] };
  const experiment = createExperiment(join(scratch, 'experiments/forks'), plan);
  const run = new WrittenRun(experiment.runFolder('fork'), spec);
  await run.fork(source, 1);
  await run.session(2, 'final_answer');
  const { folder } = await exportAll(experiment, 'parquet', join(scratch, 'out'));
  expect((await rowsOf(folder, 'calls')).map(({ inherited }) => inherited)).toEqual([true, false, false]);
});

test('a run with damaged files is named, and in no table', async () => {
  const scratch = temporaryFolder();
  const { experiment, run } = await oneRun(scratch);
  run.folder.removeTrace();
  writeFileSync(run.folder.tracePath, '{"v":1,"seq":0}\n');
  const log: string[] = [];
  const exported = await exportAll(experiment, 'parquet', join(scratch, 'out'), { log });
  expect(exported).toMatchObject({
    rows: { runs: 0, steps: 0, grades: 0, calls: 0 },
    unreadable: ['first/digits-baseline-0'],
  });
  expect(log.join('\n')).toMatch(/first\/digits-baseline-0 can't be read and is left out: .*line 1/);
  for (const name of tableNames) expect(await rowsOf(exported.folder, name)).toEqual([]);
});

test('CSV files contain the same tables, quoted and without formulas', async () => {
  const scratch = temporaryFolder();
  const { experiment, run } = await oneRun(scratch);
  run.grade(2, 0.995, { caveats: ['=1+1', 'no sandbox'] });
  const { folder } = await exportAll(experiment, 'csv', join(scratch, 'out'));
  expect(readdirSync(folder).sort()).toEqual(['calls.csv', 'grades.csv', 'runs.csv', 'steps.csv']);
  const [head, row] = readFileSync(join(folder, 'runs.csv'), 'utf8').split('\r\n');
  expect(head).toMatch(/^experiment,run,task,agent,agent_name,agent_options,model,seed,/);
  expect(row).toMatch(
    /^first,digits-baseline-0,digits,baseline,baseline,\{\},,0,bubblewrap,,,finished,2026-/,
  );
  expect(row).toMatch(/,,,'=1\+1; no sandbox$/);
  const steps = readFileSync(join(folder, 'steps.csv'), 'utf8');
  expect(steps.split('\r\n')).toHaveLength(4);
  expect(steps).toContain('"{""script_name"":""train.py""}"');
});

test('only the requested tables are written, into a new folder, and nothing if the export is stopped', async () => {
  const scratch = temporaryFolder();
  const { experiment } = await oneRun(scratch);
  const { folder } = await exportAll(experiment, 'csv', join(scratch, 'calls'), { names: ['calls'] });
  expect(readdirSync(folder)).toEqual(['calls.csv']);
  for (const to of ['csv', 'parquet'] as const) {
    await expect(exportAll(experiment, to, folder)).rejects.toMatchObject({ code: 'not_empty' });
    const signal = AbortSignal.abort(new Error('stopped by Ctrl-C'));
    const out = join(scratch, to);
    await expect(exportAll(experiment, to, out, { signal })).rejects.toThrow('stopped by Ctrl-C');
    expect(existsSync(out)).toBe(false);
  }
  mkdirSync(join(scratch, 'empty'));
  await exportAll(experiment, 'parquet', join(scratch, 'empty'), { names: ['runs'] });
  expect(readdirSync(join(scratch, 'empty'))).toEqual(['runs.parquet']);
});
