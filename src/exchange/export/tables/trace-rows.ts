import type { Grade, RunSpec, TraceEvent, TraceEventOf } from '../../../schema/index.ts';
import { improvementOf } from '../../../statistics/index.ts';
import {
  addCall,
  branchesOf,
  currentGrades,
  isInLineage,
  nothingSpent,
  ownEvents,
  type RunFolder,
  readTrace,
  resolveText,
  stateAfter,
  statesOf,
  stepsOf,
} from '../../../store/index.ts';
import type { Row } from './columns.ts';

/** The content of a run's files, for all its branches. */
export interface TraceRows {
  steps: Row<'steps'>[];
  grades: Row<'grades'>[];
  calls: Row<'calls'>[];
}

type Names = Pick<RunSpec, 'experiment'> & { run: RunSpec['id'] };

/** @throws UserError as `readTrace`; those of `ObjectStore.get` */
export async function readTraceRows(
  folder: RunFolder,
  { experiment, id: run, parent }: RunSpec,
  signal: AbortSignal,
): Promise<TraceRows> {
  const events: TraceEvent[] = [];
  if (folder.hasTrace())
    for await (const event of readTrace(folder.tracePath, { signal })) {
      // By far the most events, and in no table.
      if (event.kind !== 'output') events.push(event);
    }
  const names = { experiment, run };
  const lineage = branchesOf(events).lineage();
  const others = events.flatMap((event) =>
    event.kind === 'step_finished' && !isInLineage(event, lineage) ? [stateAfter(event)] : [],
  );
  const states = statesOf(events);
  const grades = currentGrades(folder.readGrades().grades, [...states, ...others]);
  const isInHistory = ({ branch = 'main', step }: Pick<Grade, 'branch' | 'step'>) =>
    step <= (lineage.get(branch) ?? -1);
  const graded = new Map(grades.map((grade) => [placeOf(grade), grade]));
  const own = new Set(ownEvents(events, parent));
  return {
    steps: [...stepRows(folder, names, events, isInHistory, graded)],
    grades: grades.map((grade) => ({ ...names, ...gradeCells(grade), in_history: isInHistory(grade) })),
    calls: events.flatMap((event) =>
      event.kind === 'model_call' ? [{ ...names, ...callCells(event), inherited: !own.has(event) }] : [],
    ),
  };
}

function placeOf({ branch = 'main', step }: Pick<Grade, 'branch' | 'step'>): string {
  return `${branch} ${step}`;
}

function* stepRows(
  folder: RunFolder,
  names: Names,
  events: readonly TraceEvent[],
  isInHistory: (place: Pick<Grade, 'branch' | 'step'>) => boolean,
  graded: ReadonlyMap<string, Grade>,
): Generator<Row<'steps'>> {
  const used = usedBySteps(events);
  for (const { started, performed, proposed, finished } of stepsOf(events)) {
    const grade = graded.get(placeOf(finished));
    const spent = used.get(finished) ?? nothingSpent;
    const { step, status, exit_code, duration_ms, submission, branch = 'main' } = finished;
    yield {
      ...{ ...names, branch, in_history: isInHistory(finished), step },
      ...{ action: performed.action, args: resolveText(folder.objects, performed.args) },
      proposed_action: proposed?.action ?? null,
      proposed_args: proposed && resolveText(folder.objects, proposed.args),
      ...{ actor: started.actor ?? null, status, exit_code },
      ...{ started: started.time, finished: finished.time, duration_ms },
      ...{ seconds_used: finished.budget.seconds_used, tokens_used: spent.tokens },
      money_used: spent.unpriced > 0 ? null : spent.money,
      cpu_seconds: finished.cpu_seconds ?? null,
      peak_memory_bytes: finished.peak_memory_bytes ?? null,
      ...{ changed: finished.changed_count, submission: submission.present, stale: submission.stale },
      ...{ valid: grade?.valid ?? null, score: grade?.score ?? null },
      observation: resolveText(folder.objects, finished.observation),
    };
  }
}

/** The use of language models, in all branches, at the end of each step. */
function usedBySteps(events: readonly TraceEvent[]) {
  const used = new Map<TraceEvent, typeof nothingSpent>();
  let spent = nothingSpent;
  for (const event of events) {
    if (event.kind === 'model_call') spent = addCall(spent, event);
    if (event.kind === 'step_finished') used.set(event, spent);
  }
  return used;
}

function gradeCells(grade: Grade) {
  const { branch = 'main', step, final, time, valid, score, baseline, direction, threshold } = grade;
  const { stale, seconds, caveats } = grade;
  return {
    ...{ branch, step, final, time, valid, score, baseline, direction, threshold },
    ...{ improvement: improvementOf(grade), stale, seconds, caveats },
    problems: grade.problems.map(({ code, message }) => `${code}: ${message}`),
    details: JSON.stringify(grade.details),
  };
}

function callCells(event: TraceEventOf<'model_call'>) {
  const { branch = 'main', call, step, time, role, purpose, model, answered_by, temperature } = event;
  const { max_output_tokens, usage, cost, latency_ms, waiting_ms, failure } = event;
  return {
    ...{ branch, call, step, time, role, purpose, model, answered_by, temperature, max_output_tokens },
    ...{ prompt_tokens: usage.input, cached_tokens: usage.cached_input },
    ...{ cache_write_tokens: usage.cache_write, completion_tokens: usage.output },
    ...{ reasoning_tokens: usage.reasoning, estimated: usage.source === 'estimate' },
    ...{ cost, latency_ms, waiting_ms, failed_attempts: event.attempts.length },
    ...{ failure: failure?.failure ?? null, failure_message: failure?.message ?? null },
  };
}
