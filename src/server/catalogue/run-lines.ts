import { statSync } from 'node:fs';
import { join } from 'node:path';
import { agentLabel } from '../../evaluation/index.ts';
import { hasCode, messageOf } from '../../lib/errors.ts';
import { plainLine } from '../../lib/plain-line.ts';
import { readRegularFile } from '../../lib/regular-file.ts';
import { type RunLine, type RunPlace, RunRecord, type RunSpec, type Usage } from '../../schema/index.ts';
import { placeOf, type RunFolder, type RunQueue } from '../../store/index.ts';
import type { TracedRun } from '../run/step-page.ts';
import { shownSteps, type TraceTable } from '../trace/trace-table.ts';

/** The fields of `run.json` that a line shows; the others come from the plan. */
const ShownRecord = RunRecord.pick({
  ...{ status: true, end: true, started: true, updated: true, steps: true, seconds_used: true, spent: true },
});

const maxRecordBytes = 2 ** 26;

export const nothingUsed: Usage = { seconds: 0, tokens: 0, money: 0, unpriced: 0, estimated: 0 };

const nowhere: RunPlace = { state: 'queued', where: '', why: '' };

/** The line of a run, as far as it is in the plan. */
export function plannedLine(spec: RunSpec): RunLine {
  return pendingLine({
    ...{ run: spec.id, task: spec.task, agent: agentLabel(spec), seed: spec.seed },
    ...{ parent: spec.parent ?? null, caveats: spec.caveats },
  });
}

/** The line of a run that has not begun. */
export function pendingLine(
  planned: Pick<RunLine, 'run' | 'task' | 'agent' | 'seed' | 'parent' | 'caveats'>,
): RunLine {
  const nothingYet = {
    end: null,
    steps: 0,
    used: nothingUsed,
    started: null,
    updated: null,
    unreadable: null,
  };
  return { ...planned, ...nothingYet, status: 'pending', ...nowhere };
}

/** Size and time of a file, which change with its content. Null if it does not exist. */
export function fileState(path: string): string | null {
  const state = statSync(path, { throwIfNoEntry: false });
  return state === undefined ? null : `${state.size} ${state.mtimeMs} ${state.ino}`;
}

/** Changes with every grade, verification and rating of a run. */
export function judgedState(folder: string): string {
  return ['grades.jsonl', 'verifications.jsonl', 'rubric.jsonl']
    .map((name) => fileState(join(folder, name)) ?? '–')
    .join('\n');
}

/** Adds the current content of `run.json`. */
export function recordedLine(planned: RunLine, folder: RunFolder): RunLine {
  const fresh = pendingLine(planned);
  try {
    const text = readRegularFile(folder.recordPath, maxRecordBytes, { follow: true }).toString('utf8');
    const record = ShownRecord.parse(JSON.parse(text));
    const { spent } = record;
    return {
      ...fresh,
      status: record.status,
      state: record.status === 'pending' ? 'queued' : record.status,
      end: record.end?.reason ?? null,
      steps: record.steps,
      used: {
        seconds: record.seconds_used,
        tokens: spent?.tokens ?? 0,
        money: spent?.money ?? 0,
        unpriced: spent?.unpriced ?? 0,
        estimated: spent?.estimated ?? 0,
      },
      ...{ started: record.started, updated: record.updated },
    };
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return fresh;
    const why = 'its files cannot be read';
    return { ...fresh, status: 'failed', state: 'failed', why, unreadable: problemOf(folder, error) };
  }
}

/** Adds what the run does now, and where: a record with `running` may be of a process that has died. */
export function placedLine(line: RunLine, folder: RunFolder, queue: RunQueue): RunLine {
  if (line.status === 'finished' || line.unreadable !== null) return line;
  try {
    const place = placeOf(folder, queue);
    const { state } = place;
    // A job may fail before its run begins.
    const isPending =
      state === 'queued' ||
      state === 'cancelled' ||
      state === 'starting' ||
      (state === 'failed' && line.status === 'pending');
    return { ...line, ...place, status: isPending ? 'pending' : state };
  } catch (error) {
    return { ...line, why: plainLine(messageOf(error), 200) };
  }
}

/** Records are written when runs begin and end: in between, and after a kill, the trace is ahead. */
export function tracedLine(line: RunLine, table: TraceTable): RunLine {
  const { calls: _, ...used } = spentUntilNow({ table, isRunning: line.status === 'running' });
  return { ...line, steps: shownSteps(table), used };
}

/** What a run has used according to its trace. While a step of a running run is under way, its clock goes on. */
export function spentUntilNow({
  table,
  isRunning,
}: Pick<TracedRun, 'table' | 'isRunning'>): Usage & { calls: number } {
  const { now, steps, columns } = table;
  const sum = (name: 'calls' | 'tokens' | 'money' | 'unpriced' | 'estimated') => {
    let total = now[name];
    for (let index = 0; index < steps; index++) total += columns[name][index] ?? 0;
    return total;
  };
  const { told, since, time } = table.clock;
  const inStep = now.step === null ? 0 : Math.max(0, Date.now() - time) / 1000;
  const seconds = told + (isRunning ? since + inStep : 0);
  return {
    ...{ seconds, calls: sum('calls'), tokens: sum('tokens'), money: sum('money') },
    ...{ unpriced: sum('unpriced'), estimated: sum('estimated') },
  };
}

/** The store has a better message about a file. */
function problemOf(folder: RunFolder, found: unknown): string {
  try {
    folder.readRecord();
    return messageOf(found);
  } catch (error) {
    return messageOf(error);
  }
}
