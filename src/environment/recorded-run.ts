import { z } from 'zod';
import type {
  ActionStatus,
  BranchId,
  Budget,
  EventOf,
  Limits,
  ModelAnswer,
  ObjectId,
  SubmissionState,
  TextRef,
  TraceEvent,
  TraceEventOf,
  UndoEntry,
} from '../schema/index.ts';
import { ModelAnswer as AnswerSchema } from '../schema/index.ts';
import { type Conversation, Conversations, parseStoredText } from '../store/index.ts';

const FinalAnswer = z.object({ final_answer: z.unknown() });

/** A step as an earlier session of the run recorded it. */
export interface RecordedStep {
  branch: BranchId;
  step: number;
  action: string;
  /** The arguments as JSON text. */
  args: string;
  /** Who took it in the agent's place; null: the agent. */
  actor: string | null;
  status: ActionStatus;
  /** Set if the performed action gave the final answer. */
  finalAnswer: string | null;
  observation: string;
  exitCode: number | null;
  durationMs: number;
  budget: Budget;
  /** The workspace after it. */
  snapshot: ObjectId;
  undo: UndoEntry[];
  undone: string[];
  submission: SubmissionState;
  /** What the run had added to its experiment folder; null if it was not counted. */
  storedBytes: number | null;
}

/** A model call that was answered. */
export interface RecordedCall {
  event: TraceEventOf<'model_call'>;
  answer: ModelAnswer;
  /** The messages, each as JSON text. */
  messages: () => string[];
}

export type RecordedFork = Pick<EventOf<'branch_forked'>, 'branch' | 'origin' | 'snapshot'>;

/** A request of the agent with its result. `asked` is the number of its model call. */
export type RecordedCompletion =
  | { kind: 'step'; step: RecordedStep }
  | { kind: 'call'; call: RecordedCall; asked: number }
  | { kind: 'fork'; fork: RecordedFork };

/** The gate's decision on an action that was not performed before the run was killed. */
export interface PendingDecision {
  branch: BranchId;
  step: number;
  action: string;
  args: string;
  decided: TraceEventOf<'action_decided'>;
  /** What to perform instead, if the gate decided so. */
  replacement: { name: string; args: unknown } | null;
}

/** What earlier sessions of a run left in its trace. */
export interface RecordedRun {
  /** The workspace before the first step; null for a new run. */
  start: ObjectId | null;
  /** The results that the agent received, in order. */
  completions: RecordedCompletion[];
  /** All finished steps, including those that a person took. */
  steps: RecordedStep[];
  forks: RecordedFork[];
  /** The agent's own calls. */
  calls: RecordedCall[];
  /** Calls of steps that were under way when the run was killed. */
  unfinished: RecordedCall[];
  /** Decisions on actions that were not performed before the run was killed. */
  decisions: PendingDecision[];
  /** The limits that the agent got at the start; null for a new run. */
  limits: Limits | null;
  /** How many notes the agent had written. */
  notes: number;
  /** The branches that the agent selected, in order. */
  selected: BranchId[];
  /** Calls of all kinds, answered or not. */
  callCount: number;
}

/** Reads a run's events; a step that was under way when the run was killed does not count. */
export function recordedRun(events: Iterable<TraceEvent>, textOf: (ref: TextRef) => string): RecordedRun {
  const reader = new RecordedRunReader(textOf);
  for (const event of events) reader.read(event);
  return reader.run;
}

class RecordedRunReader {
  readonly run: RecordedRun = {
    ...{ start: null, limits: null, notes: 0, callCount: 0 },
    ...{ completions: [], steps: [], forks: [], calls: [], unfinished: [], decisions: [], selected: [] },
  };
  readonly #textOf: (ref: TextRef) => string;
  readonly #conversations = new Conversations();
  readonly #started = new Map<BranchId, TraceEventOf<'step_started'>>();
  readonly #proposed = new Map<BranchId, TraceEventOf<'action_proposed'>>();

  constructor(textOf: (ref: TextRef) => string) {
    this.#textOf = textOf;
  }

  read(event: TraceEvent): void {
    switch (event.kind) {
      case 'session_started':
        this.run.start ??= event.snapshot;
        this.run.limits ??= event.limits ?? null;
        return;
      case 'note':
        this.run.notes += 1;
        return;
      case 'branch_forked':
        this.run.forks.push(event);
        this.run.completions.push({ kind: 'fork', fork: event });
        return;
      case 'branch_selected':
        this.run.selected.push(event.branch);
        return;
      case 'model_call':
        this.#readCall(event);
        return;
      case 'action_proposed':
        this.#proposed.set(event.branch ?? 'main', event);
        return;
      case 'action_decided':
        this.#readDecision(event);
        return;
      case 'step_started':
        this.#started.set(event.branch ?? 'main', event);
        return;
      case 'step_finished':
        this.#readStep(event);
        return;
    }
  }

  #readStep(event: TraceEventOf<'step_finished'>): void {
    const branch = event.branch ?? 'main';
    const started = this.#started.get(branch);
    if (started === undefined) return;
    this.#started.delete(branch);
    const { run } = this;
    const actor = started.actor ?? null;
    const args = this.#textOf(started.args);
    const step: RecordedStep = {
      ...{ branch, action: started.action, args, actor },
      step: event.step,
      status: event.status,
      finalAnswer: event.status === 'ok' ? this.#finalAnswer(branch, started.action, args, actor) : null,
      observation: this.#textOf(event.observation),
      exitCode: event.exit_code,
      durationMs: event.duration_ms,
      budget: event.budget,
      snapshot: event.snapshot,
      undo: event.undo,
      undone: event.undone,
      submission: event.submission,
      storedBytes: event.stored_bytes ?? null,
    };
    run.steps.push(step);
    if (actor !== null) return;
    run.completions.push({ kind: 'step', step });
    run.unfinished = run.unfinished.filter((call) => (call.event.branch ?? 'main') !== branch);
    run.decisions = run.decisions.filter((decision) => decision.branch !== branch);
  }

  /** Of the performed action, with which the gate may have replaced the agent's. */
  #finalAnswer(branch: BranchId, action: string, args: string, actor: string | null): string | null {
    const decision = this.run.decisions.find((one) => one.branch === branch);
    const replacement = actor === null ? (decision?.replacement ?? null) : null;
    if ((replacement?.name ?? action) !== 'Final Answer') return null;
    const given: unknown = replacement === null ? JSON.parse(args) : replacement.args;
    return String(FinalAnswer.safeParse(given).data?.final_answer);
  }

  #readDecision(decided: TraceEventOf<'action_decided'>): void {
    const branch = decided.branch ?? 'main';
    const proposed = this.#proposed.get(branch);
    if (proposed === undefined) return;
    const { action: name, args: text } = decided.replacement ?? {};
    const replacement =
      name === undefined || text === undefined ? null : { name, args: JSON.parse(this.#textOf(text)) };
    const { step } = decided;
    const args = this.#textOf(proposed.args);
    this.run.decisions = this.run.decisions.filter((one) => one.branch !== branch);
    this.run.decisions.push({ branch, step, action: proposed.action, args, decided, replacement });
  }

  #readCall(event: TraceEventOf<'model_call'>): void {
    const conversation: Conversation = this.#conversations.of(event);
    const { run } = this;
    run.callCount += 1;
    if (event.answer === null) return;
    const text = this.#textOf(event.answer);
    const call: RecordedCall = {
      event,
      answer: parseStoredText(AnswerSchema, text, `the answer of model call ${event.call}`),
      messages: () => Array.from(conversation, this.#textOf),
    };
    if (event.step !== null) {
      run.unfinished.push(call);
      return;
    }
    run.calls.push(call);
    run.completions.push({ kind: 'call', call, asked: event.asked ?? run.calls.length });
  }
}
