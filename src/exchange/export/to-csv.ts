import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify/sync';
import { statusOf } from '../../store/index.ts';
import type { RecordedRun } from './recorded-run.ts';

type Cell = string | number | boolean | null;
type Row = Record<string, Cell>;

/** steps.csv with one row a step, runs.csv with one row a run; as RFC 4180 says, in UTF-8. Null is an empty cell. */
export async function writeTables(
  runs: AsyncIterable<RecordedRun>,
  out: string,
  signal: AbortSignal,
): Promise<void> {
  const runRows: Row[] = [];
  async function* steps(): AsyncGenerator<string> {
    yield line(stepColumns);
    for await (const run of runs) {
      runRows.push(runRow(run));
      for (const row of stepRows(run)) yield line(stepColumns.map((column) => row[column] ?? null));
    }
  }
  await pipeline(steps, createWriteStream(join(out, 'steps.csv'), { flags: 'wx' }), { signal });
  const lines = [
    line(runColumns),
    ...runRows.map((row) => line(runColumns.map((column) => row[column] ?? null))),
  ];
  await pipeline(Readable.from(lines), createWriteStream(join(out, 'runs.csv'), { flags: 'wx' }), { signal });
}

const runColumns = [
  ...['experiment', 'run', 'task', 'agent', 'model', 'seed', 'status', 'end', 'message', 'steps', 'seconds'],
  ...['model_calls', 'tokens', 'money', 'valid', 'score', 'baseline', 'direction', 'marks'],
] as const;

const stepColumns = [
  ...['experiment', 'run', 'step', 'time', 'action', 'args', 'status', 'exit_code', 'duration_ms'],
  ...['seconds_used', 'tokens_used', 'changed', 'submission', 'stale', 'valid', 'score', 'observation'],
] as const;

function runRow({ folder, record, steps, grades, spent, secondsUsed }: RecordedRun): Row {
  const { spec } = record;
  const grade = [...grades.values()].find(({ final }) => final);
  return {
    ...{ experiment: spec.experiment, run: spec.id, task: spec.task, agent: spec.agent, model: spec.model },
    ...{
      seed: spec.seed,
      status: statusOf(folder, record),
      end: record.end?.reason ?? null,
      message: record.end?.message ?? null,
    },
    ...{ steps: steps.length, seconds: secondsUsed, model_calls: spent.calls, tokens: spent.tokens },
    money: spent.unpriced > 0 ? null : spent.money,
    ...{ valid: grade?.valid ?? null, score: grade?.score ?? null, baseline: grade?.baseline ?? null },
    ...{ direction: grade?.direction ?? null, marks: spec.marks.join('; ') },
  };
}

function* stepRows({ record, steps, grades }: RecordedRun): Generator<Row> {
  const { experiment, id } = record.spec;
  let tokens = 0;
  for (const { step, action, args, observation, finished, before, calls } of steps) {
    for (const one of [...before, ...calls])
      if (one.kind === 'call') tokens += one.event.usage.input + one.event.usage.output;
    const grade = grades.get(step);
    yield {
      ...{ experiment, run: id, step, time: new Date(finished.time).toISOString(), action },
      ...{ args: JSON.stringify(args), status: finished.status, exit_code: finished.exit_code },
      ...{
        duration_ms: finished.duration_ms,
        seconds_used: finished.budget.seconds_used,
        tokens_used: tokens,
      },
      ...{ changed: finished.changed_count, submission: finished.submission.present },
      ...{
        stale: finished.submission.stale,
        valid: grade?.valid ?? null,
        score: grade?.score ?? null,
        observation,
      },
    };
  }
}

/** Yes and no as words: the library's own text for false is an empty one. */
const cast = { boolean: (value: boolean) => String(value) };

function line(cells: readonly Cell[]): string {
  return stringify([[...cells]], {
    record_delimiter: 'windows',
    quoted_match: /[\r\n]/,
    cast,
    escape_formulas: true,
  });
}
