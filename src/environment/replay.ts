import type {
  ActionStatus,
  Budget,
  Limits,
  ModelAnswer,
  ModelRequest,
  SubmissionState,
  TextRef,
  TraceEvent,
  TraceEventOf,
  UndoEntry,
} from '../schema/index.ts';
import { ModelAnswer as AnswerSchema } from '../schema/index.ts';
import { type Conversation, Conversations, parseStoredText } from '../store/index.ts';
import type { AskedAction } from './asked-action.ts';
import { type Ending, endingOf } from './ending.ts';
import type { StepResult } from './environment.ts';
import { requestHash } from './request-hash.ts';
import { submissionSeen } from './submission-tracker.ts';

/** A step as an earlier session of the run recorded it. */
export interface RecordedStep {
  step: number;
  action: string;
  /** The arguments as JSON text. */
  args: string;
  status: ActionStatus;
  observation: string;
  exitCode: number | null;
  durationMs: number;
  budget: Budget;
  undo: UndoEntry[];
  undone: string[];
  submission: SubmissionState;
  /** What the run had added to its experiment folder; null where nobody counted. */
  storedBytes: number | null;
  /** How often the agent had asked its model before. */
  callsBefore: number;
}

/** A call of a language model that was answered. */
export interface RecordedCall {
  event: TraceEventOf<'model_call'>;
  answer: ModelAnswer;
  /** The messages, each as JSON text. */
  messages: () => string[];
}

/** What earlier sessions of a run left in its trace. */
export interface RecordedRun {
  steps: RecordedStep[];
  /** The agent's own calls. */
  calls: RecordedCall[];
  /** Calls of a step that was under way when the run was killed. */
  unfinished: RecordedCall[];
  /** The limits that the agent was told at the start; null for a run that begins now. */
  limits: Limits | null;
  /** How many notes the agent had written. */
  notes: number;
  /** Calls of all kinds, answered or not. */
  callCount: number;
}

/** The agent did not act as it did before: the run can't go on from its trace. */
export class ReplayDiverged extends Error {
  override readonly name = 'ReplayDiverged';
}

/** Reads what counts from a run's events; a step that was under way when the run was killed does not. */
export function recordedRun(events: Iterable<TraceEvent>, textOf: (ref: TextRef) => string): RecordedRun {
  const recorded: RecordedRun = {
    ...{ steps: [], calls: [], unfinished: [], limits: null, notes: 0, callCount: 0 },
  };
  const conversations = new Conversations();
  let started: { action: string; args: string } | null = null;
  for (const event of events) {
    if (event.kind === 'session_started') recorded.limits ??= event.limits ?? null;
    if (event.kind === 'note') recorded.notes += 1;
    if (event.kind === 'step_started') started = { action: event.action, args: textOf(event.args) };
    if (event.kind === 'model_call') addCall(recorded, event, conversations.of(event), textOf);
    if (event.kind !== 'step_finished' || started === null) continue;
    recorded.steps.push({
      ...started,
      step: event.step,
      status: event.status,
      observation: textOf(event.observation),
      exitCode: event.exit_code,
      durationMs: event.duration_ms,
      budget: event.budget,
      undo: event.undo,
      undone: event.undone,
      submission: event.submission,
      storedBytes: event.stored_bytes ?? null,
      callsBefore: recorded.calls.length,
    });
    recorded.unfinished = [];
    started = null;
  }
  return recorded;
}

function addCall(
  recorded: RecordedRun,
  event: TraceEventOf<'model_call'>,
  conversation: Conversation,
  textOf: (ref: TextRef) => string,
): void {
  recorded.callCount += 1;
  if (event.answer === null) return;
  const call: RecordedCall = {
    event,
    answer: parseStoredText(AnswerSchema, textOf(event.answer), `the answer of model call ${event.call}`),
    messages: () => Array.from(conversation, textOf),
  };
  if (event.step === null) recorded.calls.push(call);
  else recorded.unfinished.push(call);
}

/** Brings the stack of undo entries (oldest first) up to date with what one step added and used up. */
export function updateUndoStack(stack: UndoEntry[], step: { undo?: UndoEntry[]; undone?: string[] }): void {
  for (const path of step.undone ?? []) {
    const index = stack.findLastIndex((entry) => entry.path === path);
    if (index >= 0) stack.splice(index, 1);
  }
  stack.push(...(step.undo ?? []));
}

/**
 * What an agent is told again of a recorded step, and whether the step ends the run: by the limits of this run, as one that
 * was forked from another may have wider ones.
 */
export function repeatStep(
  action: AskedAction,
  recorded: RecordedStep,
  limits: Limits,
): { result: StepResult; ending: Ending | null } {
  const { step, status, observation, exitCode, durationMs, budget } = recorded;
  const answer = action.name === 'Final Answer' && status === 'ok' ? String(action.args.final_answer) : null;
  const left = { steps_left: limits.steps - step, seconds_left: limits.wall_seconds - budget.seconds_used };
  const ending = endingOf(answer, left, limits, recorded.storedBytes ?? 0);
  const submission = submissionSeen(recorded.submission);
  const ended = ending !== null;
  return { result: { step, status, observation, exitCode, durationMs, budget, submission, ended }, ending };
}

/** Leads an agent through what is recorded: it must ask for the same again, in the same order. */
export class Replay {
  readonly #recorded: RecordedRun;
  #steps = 0;
  #calls = 0;
  #notes = 0;

  constructor(recorded: RecordedRun) {
    this.#recorded = recorded;
  }

  /** What is recorded of the step that the agent wants to take now; null after the last one. */
  step(action: AskedAction): RecordedStep | null {
    const next = this.#recorded.steps[this.#steps];
    if (next === undefined) return null;
    if (next.callsBefore > this.#calls) {
      const skipped = this.#recorded.calls[this.#calls];
      throw new ReplayDiverged(
        `Before step ${next.step} the trace has a model call (${skipped?.event.purpose ?? 'unknown'}); the agent acted without it.`,
      );
    }
    if (next.action !== action.name || next.args !== action.text) {
      const names = `the agent chose "${action.name}", the trace has "${next.action}"`;
      const where = next.action === action.name ? ` ${firstDifference(next.args, action.text)}` : '';
      throw new ReplayDiverged(`At step ${next.step} ${names}.${where}`);
    }
    this.#steps += 1;
    return next;
  }

  /** The recorded call that answers what the agent asks its model now; null after the last one. */
  ask(request: ModelRequest): RecordedCall | null {
    const call = this.#recorded.calls[this.#calls];
    const next = this.#recorded.steps[this.#steps];
    if (next !== undefined && (call === undefined || next.callsBefore <= this.#calls)) {
      throw new ReplayDiverged(
        `The agent asked its model (${request.purpose}), where the trace has step ${next.step} ("${next.action}").`,
      );
    }
    if (call === undefined) return null;
    if (call.event.request !== requestHash(request))
      throw new ReplayDiverged(describeDifference(call, request));
    this.#calls += 1;
    return call;
  }

  /** The recorded answer to what an action of the unfinished step asks now; null where it asks for something else. */
  askInStep(request: ModelRequest): RecordedCall | null {
    if (this.#recorded.unfinished.length === 0) return null;
    const hash = requestHash(request);
    const index = this.#recorded.unfinished.findIndex(({ event }) => event.request === hash);
    return index < 0 ? null : (this.#recorded.unfinished.splice(index, 1)[0] ?? null);
  }

  /** Whether this note is recorded already. */
  note(): boolean {
    this.#notes += 1;
    return this.#notes <= this.#recorded.notes;
  }

  /** What the agent did not ask for again, in words; null when it asked for all. */
  get missing(): string | null {
    const steps = this.#recorded.steps.length - this.#steps;
    const calls = this.#recorded.calls.length - this.#calls;
    return steps + calls === 0 ? null : `${steps} recorded steps and ${calls} recorded model calls`;
  }
}

/** Says in which message, and where in it, a request differs from the recorded one. */
function describeDifference({ event, messages }: RecordedCall, request: ModelRequest): string {
  const where = `At model call ${event.call} (${event.purpose})`;
  const recorded = messages();
  const index = request.messages.findIndex((asked, place) => JSON.stringify(asked) !== recorded[place]);
  if (index < 0) {
    const detail =
      recorded.length === request.messages.length
        ? 'its role, tools or stop texts differ'
        : `it sent ${request.messages.length} messages, the trace has ${recorded.length}`;
    return `${where} the agent asked for something else: ${detail}.`;
  }
  const asked = request.messages[index];
  const difference = firstDifference(recorded[index] ?? '', asked === undefined ? '' : JSON.stringify(asked));
  return `${where} the agent's message ${index + 1} is not the recorded one. ${difference}`;
}

const shown = 120;

function firstDifference(recorded: string, asked: string): string {
  let start = 0;
  while (start < recorded.length && recorded[start] === asked[start]) start += 1;
  const from = Math.max(0, start - 40);
  const part = (text: string) => JSON.stringify(text.slice(from, from + shown));
  return `They differ from character ${start + 1} on: recorded ${part(recorded)}, now ${part(asked)}.`;
}
