import { z } from 'zod';
import type { Grade, RunRecord, Spent, TextRef, TraceEvent, TraceEventOf } from '../../schema/index.ts';
import { ModelAnswer, ModelMessage } from '../../schema/index.ts';
import {
  Conversations,
  currentGrades,
  historyOf,
  type PerformedAction,
  PerformedActions,
  parseStoredText,
  type RunFolder,
  readTraceSync,
  resolveText,
  sessionsOf,
  spentOf,
  statesOf,
  type TracedAction,
} from '../../store/index.ts';

/** A run of the store with all texts inserted, in chronological order. */
export interface ExportedRun {
  folder: RunFolder;
  record: RunRecord;
  started: TraceEventOf<'session_started'> | null;
  problem: string;
  steps: ExportedStep[];
  /** Notes and calls after the last step. */
  after: ExportedAside[];
  end: (TraceEventOf<'run_ended'> & { answer: string | null }) | null;
  /** The use so far: the record of a run that is running, or was killed, is behind its trace. */
  spent: Spent;
  secondsUsed: number;
  /** The grades of graded steps. */
  grades: ReadonlyMap<number, Grade>;
}

export interface ExportedStep {
  step: number;
  /** What was performed. */
  action: string;
  args: unknown;
  /** What the agent wrote, if somebody replaced it; else null. */
  proposed: { action: string; args: unknown } | null;
  observation: string;
  started: TraceEventOf<'step_started'>;
  finished: TraceEventOf<'step_finished'>;
  inner: { action: string; args: unknown; observation: string; time: number }[];
  /** Since the step before. */
  before: ExportedAside[];
  /** Calls that the action made. */
  calls: AskedModel[];
}

/** What happens between steps. */
export type ExportedAside = { kind: 'note'; entries: Record<string, string> } | AskedModel;

export interface AskedModel {
  kind: 'call';
  event: TraceEventOf<'model_call'>;
  /** All messages of the request, read on demand: for all calls together they grow quadratically. */
  messages: () => { role: string; text: string }[];
  /** Null if there was none. */
  answer: string | null;
}

/** A run that has begun: its folder and its run.json. */
export interface BegunRun {
  folder: RunFolder;
  record: RunRecord;
}

/** @throws UserError as `readTraceSync` */
export function readRecordedRun({ folder, record }: BegunRun): ExportedRun {
  const events = folder.hasTrace() ? readTraceSync(folder.tracePath).events : [];
  const reader = new Reader(folder, record);
  for (const event of historyOf(events)) reader.read(event);
  const current = currentGrades(folder.readGrades().grades, statesOf(events));
  const grades = new Map(current.map((grade) => [grade.step, grade]));
  const { secondsUsed } = sessionsOf(events);
  return { ...reader.run, grades, spent: spentOf(events), secondsUsed };
}

class Reader {
  readonly run: Omit<ExportedRun, 'grades' | 'spent' | 'secondsUsed'>;
  #open: (PerformedAction & { started: TraceEventOf<'step_started'> }) | null = null;
  readonly #actions = new PerformedActions();
  #calls: AskedModel[] = [];
  readonly #conversations = new Conversations();

  constructor(folder: RunFolder, record: RunRecord) {
    const empty = { started: null, problem: '', steps: [], after: [], end: null };
    this.run = { folder, record, ...empty };
  }

  read(event: TraceEvent): void {
    this.#actions.read(event);
    switch (event.kind) {
      case 'session_started':
        this.run.started ??= event;
        if (event.task !== undefined) this.run.problem = this.#text(event.task.problem);
        this.run.end = null;
        this.#open = null;
        this.#calls = [];
        return;
      case 'note': {
        const entries = Object.entries(event.entries).map(([name, text]) => [name, this.#text(text)]);
        this.run.after.push({ kind: 'note', entries: Object.fromEntries(entries) });
        return;
      }
      case 'model_call':
        (event.step === null ? this.run.after : this.#calls).push(this.#asked(event));
        return;
      case 'step_started':
        this.#open = { started: event, ...this.#actions.of(event) };
        return;
      case 'step_finished':
        this.#finish(event);
        return;
      case 'run_ended': {
        const answer = event.final_answer === null ? null : this.#text(event.final_answer);
        this.run.end = { ...event, answer };
      }
    }
  }

  #finish(finished: TraceEventOf<'step_finished'>): void {
    const open = this.#open;
    this.#open = null;
    if (open?.started.step !== finished.step) return;
    const { started, performed, proposed } = open;
    this.run.steps.push({
      ...{
        step: finished.step,
        ...this.#action(performed),
        proposed: proposed && this.#action(proposed),
        started,
        finished,
      },
      observation: this.#text(finished.observation),
      inner: (finished.inner ?? []).map(({ observation, time, ...inner }) => ({
        ...{ ...this.#action(inner), observation: this.#text(observation), time },
      })),
      ...{ before: this.run.after.splice(0), calls: this.#calls },
    });
    this.#calls = [];
  }

  #action({ action, args }: TracedAction): { action: string; args: unknown } {
    return { action, args: this.#json(args, z.json()) };
  }

  #asked(event: TraceEventOf<'model_call'>): AskedModel {
    const conversation = this.#conversations.of(event);
    const messages = () =>
      Array.from(conversation, (ref) => {
        const { role, text } = this.#json(ref, ModelMessage);
        return { role, text };
      });
    const answer = event.answer === null ? null : answerText(this.#json(event.answer, ModelAnswer));
    return { kind: 'call', event, messages, answer };
  }

  #text(ref: TextRef): string {
    return resolveText(this.run.folder.objects, ref);
  }

  #json<Schema extends z.ZodType>(ref: TextRef, schema: Schema): z.output<Schema> {
    return parseStoredText(schema, this.#text(ref), 'a text of the trace');
  }
}

/** The model's text; tool calls as JSON. */
function answerText(answer: ModelAnswer): string {
  if (answer.kind !== 'answered') return answer.message;
  return [answer.text, ...answer.tool_calls.map((call) => JSON.stringify(call))]
    .filter((part) => part !== '')
    .join('\n');
}
