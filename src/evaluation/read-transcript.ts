import { z } from 'zod';
import { isJsonObject } from '../lib/json-values.ts';
import {
  type BranchId,
  type EventOf,
  type GradedStep,
  ModelAnswer,
  programOutput,
  searchNodeEntry,
  type TextRef,
  type TraceEvent,
} from '../schema/index.ts';
import type { FormatError, RunTranscript, TranscriptStep } from '../statistics/index.ts';
import {
  eachEventSync,
  foldHistory,
  PerformedActions,
  parseStoredText,
  type RunFolder,
  resolveText,
} from '../store/index.ts';

/**
 * A run's transcript: its trace with all texts inserted.
 * @param branch default: the selected one
 * @throws UserError as `eachEventSync`
 */
export function readTranscript(
  folder: RunFolder,
  grades: readonly GradedStep[],
  branch?: BranchId,
): RunTranscript {
  const { fold } = foldHistory(
    () => eachEventSync(folder.tracePath),
    () => new TranscriptReader((ref) => resolveText(folder.objects, ref)),
    branch,
  );
  return fold.transcript(grades);
}

/** What somebody other than the agent did to a run. */
function isOfOthers(event: TraceEvent): boolean {
  if (event.kind === 'action_decided') return event.verdict !== 'allow';
  return event.kind === 'step_started' && event.actor !== undefined;
}

/** The entry in which agents note what is wrong with a reply. */
const formatError = 'Format error';

/** Folds the events of a run into its transcript. */
export class TranscriptReader {
  readonly #text: (ref: TextRef) => string;
  readonly #steps: TranscriptStep[] = [];
  readonly #elsewhere: string[] = [];
  readonly #formatErrors: FormatError[] = [];
  readonly #actions = new PerformedActions();
  #problem = '';
  #submissionFiles: string[] = [];
  #starter: string | null = null;
  #entries: Record<string, string> = {};
  #started: { step: number; action: string; args: Record<string, unknown> } | null = null;
  #end: RunTranscript['end'] = null;
  #tokens = 0;
  #money: number | null = 0;
  /** The latest reply of the agent's model that has had no consequence yet. */
  #reply: string | null = null;
  #isRejected = false;
  #isShared = false;

  constructor(text: (ref: TextRef) => string) {
    this.#text = text;
  }

  /** @param isInHistory whether it belongs to the branch that is read; the cost of others counts, too */
  read(event: TraceEvent, isInHistory = true): void {
    if (event.kind === 'model_call') this.#addCost(event);
    // What was noted before a step of another branch belongs to that step.
    if (!isInHistory && event.kind === 'step_started') this.#entries = {};
    if (!isInHistory) {
      this.#readElsewhere(event);
      return;
    }
    if (isOfOthers(event)) this.#isShared = true;
    this.#actions.read(event);
    switch (event.kind) {
      case 'session_started':
        this.#end = null;
        this.#starter ??= event.snapshot;
        if (event.task === undefined) return;
        this.#problem = this.#text(event.task.problem);
        this.#submissionFiles = event.task.submission;
        return;
      case 'note':
        this.#readNote(event.entries);
        return;
      case 'model_call':
        if (event.answer !== null && event.role === 'agent' && event.purpose === 'act')
          this.#readReply(this.#text(event.answer));
        return;
      case 'step_started': {
        const { action, args } = this.#actions.of(event).performed;
        this.#started = { step: event.step, action, args: argsOf(this.#text(args)) };
        this.#reply = null;
        this.#isRejected = false;
        return;
      }
      case 'step_finished':
        this.#finish(event);
        return;
      case 'run_ended': {
        const { reason, message, final_answer } = event;
        // Any other end of the run may have prevented the last reply from being acted on.
        if (reason === 'reply_format') this.#rejectReply();
        this.#end = { reason, message, finalAnswer: final_answer === null ? null : this.#text(final_answer) };
        return;
      }
    }
  }

  #readElsewhere(event: TraceEvent): void {
    if (event.kind !== 'step_finished' || event.exit_code === null || event.by_model === true) return;
    this.#elsewhere.push(this.#text(event.observation));
  }

  #addCost({ usage, cost }: EventOf<'model_call'>): void {
    this.#tokens += usage.input + usage.output;
    this.#money = this.#money === null || cost === null ? null : this.#money + cost;
  }

  get steps(): readonly TranscriptStep[] {
    return this.#steps;
  }

  transcript(grades: readonly GradedStep[]): RunTranscript {
    return {
      ...{ problem: this.#problem, submissionFiles: this.#submissionFiles, steps: this.#steps },
      ...{ starter: this.#starter, printedElsewhere: this.#elsewhere },
      ...{ lastEntries: this.#entries, formatErrors: this.#formatErrors, end: this.#end, grades },
      isShared: this.#isShared,
    };
  }

  #readNote(entries: Readonly<Record<string, TextRef>>): void {
    for (const [name, ref] of Object.entries(entries)) {
      if (name === searchNodeEntry || name === programOutput) continue;
      const text = this.#text(ref);
      const before = this.#entries[name];
      if (name === formatError) this.#rejectReply(text);
      else this.#entries[name] = before === undefined ? text : `${before}\n\n${text}`;
    }
  }

  /** Agents that note no format errors ask again, without a step in between. */
  #readReply(text: string): void {
    const answer = parseStoredText(ModelAnswer, text, 'an answer of a model in the trace');
    if (answer.kind !== 'answered') return;
    // An agent may hold a final answer back once, to confirm it: the reply was valid.
    if (this.#reply !== null && !/final[_ ]answer/i.test(this.#reply)) this.#rejectReply();
    // Its text belongs to the rejected reply; it is not the plan of the next step.
    if (this.#isRejected) this.#entries = {};
    this.#isRejected = false;
    this.#reply = [answer.text, ...answer.tool_calls.map((call) => JSON.stringify(call))].join('\n');
  }

  #rejectReply(complaint = ''): void {
    const afterStep = this.#steps.at(-1)?.step ?? 0;
    if (this.#reply !== null || complaint !== '')
      this.#formatErrors.push({ afterStep, reply: this.#reply ?? complaint });
    this.#reply = null;
    this.#isRejected = true;
  }

  #finish(event: TraceEvent & { kind: 'step_finished' }): void {
    const started = this.#started;
    this.#started = null;
    // A step that was cut off has no end, and one that was repeated counts as it was finished.
    if (started?.step !== event.step) return;
    this.#steps.push({
      ...started,
      status: event.status,
      exitCode: event.exit_code,
      observation: this.#text(event.observation),
      byModel: event.by_model === true,
      entries: this.#entries,
      changed: event.changed,
      changedCount: event.changed_count,
      snapshot: event.snapshot,
      submission: event.submission,
      used: { seconds: event.budget.seconds_used, tokens: this.#tokens, money: this.#money },
    });
    this.#entries = {};
  }
}

/** Arguments are JSON text from the agent; if they are not an object, they are kept under `input`. */
function argsOf(text: string): Record<string, unknown> {
  const value = parseStoredText(z.unknown(), text, 'the arguments of an action in the trace');
  return isJsonObject(value) ? value : { input: value };
}
