import { agentLabel, modelRatings } from '../../evaluation/index.ts';
import { messageOf, UserError } from '../../lib/errors.ts';
import {
  isImported,
  type RelatedRun,
  type RunPage,
  type RunRecord,
  type RunSpec,
  type TraceEvent,
} from '../../schema/index.ts';
import {
  limitsHeldText,
  openExperiment,
  placeOf,
  queueOf,
  type RunFolder,
  statusOf,
} from '../../store/index.ts';
import type { Judgement } from '../background/judgements.ts';
import type { ExperimentPlace } from '../catalogue/known-experiment.ts';
import { spentUntilNow } from '../catalogue/run-lines.ts';
import { readEvents } from '../trace/read-events.ts';
import { hasTail, shownSteps, type TraceTable, usedSteps } from '../trace/trace-table.ts';
import type { ShownTexts } from './shown-texts.ts';
import type { TracedRun } from './step-page.ts';

export interface RunPageParts {
  place: ExperimentPlace;
  folder: RunFolder;
  table: TraceTable;
  /** Whether a process executes it. */
  isRunning: boolean;
  tornBytes: number;
  judgement: Judgement;
  parent: RelatedRun | null;
  forks: RelatedRun[];
  begun: RunPage['begun'];
}

export async function runPage(
  parts: RunPageParts,
  texts: ShownTexts,
  signal?: AbortSignal,
): Promise<RunPage> {
  const { place, folder, table, judgement } = parts;
  const { record, problem } = readRecord(folder);
  const spec = record?.spec ?? plannedSpec(place, folder);
  return {
    ...{ experiment: place.id, run: folder.id, parent: parts.parent, forks: parts.forks, begun: parts.begun },
    ...specPart(spec),
    ...recordPart(folder, record),
    where: whereIs(place, folder),
    ...usedPart(record, parts),
    branches: table.branches.map((branch) => ({ ...branch, selected: branch.id === table.selected })),
    ...{
      steps: shownSteps(table),
      steps_used: usedSteps(table),
      has_tail: hasTail(table),
      sessions: table.sessions,
    },
    ...(await firstEventPart(record, folder.tracePath, table, texts, signal)),
    ...(await lastEventPart(folder.tracePath, table, texts, signal)),
    ...{ evaluation: judgement.evaluation, pending: judgement.pending },
    unreadable: problem ?? table.unreadable ?? judgement.unreadable,
    verification: folder.readVerifications().verifications.at(-1) ?? null,
    ratings: modelRatings(folder.readJudgements()),
    torn_bytes: parts.tornBytes,
  };
}

function readRecord(folder: RunFolder): { record: RunRecord | null; problem: string | null } {
  try {
    return { record: folder.readRecord(), problem: null };
  } catch (error) {
    if (!UserError.isInstance(error)) throw error;
    return { record: null, problem: messageOf(error) };
  }
}

function plannedSpec({ folder }: ExperimentPlace, run: RunFolder): RunSpec {
  const spec = openExperiment(folder).specOf(run.id);
  if (spec === null) throw new Error(`the plan in ${folder} has no run ${run.id}`);
  return spec;
}

function specPart(spec: RunSpec) {
  const { task, agent, agent_options, model, roles, seed, caveats, experience, limits, sandbox, gpu } = spec;
  return {
    ...{ task, agent: agentLabel(spec), agent_name: agent, agent_options, model, roles: roles ?? null },
    ...{ caveats, lessons: experience ?? [] },
    ...(isImported(spec)
      ? { seed: null, limits: null, sandbox: null, gpu: null }
      : { seed, limits, sandbox, gpu }),
  };
}

function recordPart(folder: RunFolder, record: RunRecord | null) {
  const end = record?.end ?? null;
  return {
    versions: record?.versions ?? {},
    status: statusOf(folder, record),
    waits_for: record?.waits_for?.map(({ branch, step, action }) => ({ branch, step, action })) ?? [],
    end: end && { reason: end.reason, cause: end.cause ?? null, message: end.message },
    started: record?.started ?? null,
    updated: record?.updated ?? null,
  };
}

/** Empty if its record can't be read, which the page reports. */
function whereIs(place: ExperimentPlace, folder: RunFolder): string {
  try {
    return placeOf(folder, queueOf(place.folder)).where;
  } catch {
    return '';
  }
}

/** What the run has used. Records are written when runs begin and end; in between the trace says it. */
function usedPart(record: RunRecord | null, traced: Pick<TracedRun, 'table' | 'isRunning'>) {
  if (record !== null && record.status !== 'running')
    return { seconds_used: record.seconds_used, spent: record.spent ?? null };
  const { seconds, ...spent } = spentUntilNow(traced);
  return { seconds_used: seconds, spent: spent.calls === 0 ? null : spent };
}

/** Its agent's problem text, and how its limits were enforced. */
async function firstEventPart(
  record: RunRecord | null,
  path: string,
  { first }: TraceTable,
  texts: ShownTexts,
  signal?: AbortSignal,
) {
  const event = await eventAt(path, first, signal);
  const task = event?.kind === 'session_started' ? event.task : undefined;
  return {
    problem: task === undefined ? null : texts.ref('problem', task.problem, 'long'),
    entry: task?.entry ?? null,
    submission_files: task?.submission ?? [],
    limits_held: record === null ? null : limitsHeldText(record, event),
  };
}

async function lastEventPart(path: string, { ending }: TraceTable, texts: ShownTexts, signal?: AbortSignal) {
  const event = await eventAt(path, ending, signal);
  const { final_answer: answer, claimed } = event?.kind === 'run_ended' ? event : { final_answer: null };
  return {
    final_answer: answer && texts.ref('final_answer', answer, 'long'),
    claimed: claimed ?? null,
  };
}

async function eventAt(
  path: string,
  at: TraceTable['first'],
  signal?: AbortSignal,
): Promise<TraceEvent | null> {
  if (at === null) return null;
  for await (const event of readEvents(path, { from: at.offset, to: at.offset + at.bytes + 1 }, { signal }))
    return event;
  return null;
}
