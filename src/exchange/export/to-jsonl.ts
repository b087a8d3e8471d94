import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Grade } from '../../schema/index.ts';
import type { ExportedAside, ExportedRun, ExportedStep } from './exported-run.ts';

/** One file per run, one self-contained line per step. */
export async function writeJsonLines(run: ExportedRun, out: string, signal: AbortSignal): Promise<void> {
  const file = createWriteStream(join(out, `${run.folder.id}.jsonl`), { flags: 'wx' });
  await pipeline(Readable.from(linesOf(run)), file, { signal });
}

function* linesOf(run: ExportedRun): Generator<string> {
  for (const step of run.steps) yield `${JSON.stringify(lineOf(run, step))}\n`;
}

function lineOf(run: ExportedRun, step: ExportedStep): Record<string, unknown> {
  const { record, grades, steps, end, after } = run;
  const { id, experiment, task, agent, model, seed, caveats } = record.spec;
  const { finished } = step;
  const grade = grades.get(step.step);
  return {
    ...{ v: 1, experiment, run: id, task, agent, model, seed, caveats },
    ...{ step: step.step, started: step.started.time, finished: finished.time },
    ...{ action: step.action, args: step.args, proposed: step.proposed },
    ...{ status: finished.status, exit_code: finished.exit_code },
    ...{ observation: step.observation, by_model: finished.by_model ?? false },
    ...{ duration_ms: finished.duration_ms, seconds_used: finished.budget.seconds_used },
    ...{ changed: finished.changed, changed_count: finished.changed_count, snapshot: finished.snapshot },
    ...{ submission: finished.submission, grade: grade === undefined ? null : shortGrade(grade) },
    ...{ before: step.before.map(asideOf), model_calls: step.calls.map(asideOf), inner: step.inner },
    ...(step === steps.at(-1)
      ? {
          after: after.map(asideOf),
          end: record.end && {
            ...{ reason: record.end.reason, message: record.end.message },
            final_answer: end?.answer ?? null,
          },
        }
      : {}),
  };
}

function asideOf(aside: ExportedAside): Record<string, unknown> {
  if (aside.kind === 'note') return { note: aside.entries };
  const { role, purpose, model, usage, cost, latency_ms, waiting_ms, failure } = aside.event;
  const { messages, answer } = aside;
  return { role, purpose, model, messages: messages(), answer, usage, cost, latency_ms, waiting_ms, failure };
}

function shortGrade({ valid, score, baseline, direction, problems }: Grade): Record<string, unknown> {
  return { valid, score, baseline, direction, problems };
}
