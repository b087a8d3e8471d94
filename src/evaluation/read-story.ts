import type { GradedStep, TextRef, TraceEvent } from '../schema/index.ts';
import type { FormatError, RunStory, StoryStep } from '../statistics/index.ts';
import { type RunFolder, readTraceSync, resolveText } from '../store/index.ts';

/** A run's story: its trace with every text at hand. @throws UserError as `readTraceSync` */
export function readStory(folder: RunFolder, grades: readonly GradedStep[]): RunStory {
  const { events } = readTraceSync(folder.tracePath);
  const reader = new StoryReader((ref) => resolveText(folder.objects, ref));
  for (const event of events) reader.read(event);
  return reader.story(grades);
}

/** Folds the events of a run into its story, one after another. */
export class StoryReader {
  readonly #text: (ref: TextRef) => string;
  readonly #steps: StoryStep[] = [];
  readonly #formatErrors: FormatError[] = [];
  #problem = '';
  #submissionFiles: string[] = [];
  #entries: Record<string, string> = {};
  #started: { step: number; action: string; args: Record<string, unknown> } | null = null;
  #end: RunStory['end'] = null;
  #tokens = 0;
  #money: number | null = 0;

  constructor(text: (ref: TextRef) => string) {
    this.#text = text;
  }

  read(event: TraceEvent): void {
    switch (event.kind) {
      case 'session_started':
        this.#end = null;
        if (event.task === undefined) return;
        this.#problem = this.#text(event.task.problem);
        this.#submissionFiles = event.task.submission;
        return;
      case 'note':
        this.#readNote(event.entries);
        return;
      case 'model_call':
        if (event.answer === null) return;
        this.#tokens += event.usage.input + event.usage.output;
        this.#money = this.#money === null || event.cost === null ? null : this.#money + event.cost;
        return;
      case 'step_started': {
        const { step, action } = event;
        this.#started = { step, action, args: argsOf(this.#text(event.args)) };
        return;
      }
      case 'step_finished':
        this.#finish(event);
        return;
      case 'run_ended': {
        const { reason, message, final_answer } = event;
        this.#end = { reason, message, finalAnswer: final_answer === null ? null : this.#text(final_answer) };
        return;
      }
    }
  }

  get steps(): readonly StoryStep[] {
    return this.#steps;
  }

  story(grades: readonly GradedStep[]): RunStory {
    return {
      ...{ problem: this.#problem, submissionFiles: this.#submissionFiles, steps: this.#steps },
      ...{ lastEntries: this.#entries, formatErrors: this.#formatErrors, end: this.#end, grades },
    };
  }

  #readNote(entries: Readonly<Record<string, TextRef>>): void {
    for (const [name, ref] of Object.entries(entries)) {
      const text = this.#text(ref);
      if (name === 'Format error')
        this.#formatErrors.push({ afterStep: this.#steps.at(-1)?.step ?? 0, reply: text });
      else this.#entries[name] = text;
    }
  }

  #finish(event: TraceEvent & { kind: 'step_finished' }): void {
    const started = this.#started;
    this.#started = null;
    // A step that was cut off has no end, and one that was taken again counts as it was finished.
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

/** Arguments are JSON text as the agent gave it; what is no object is kept as it is under `input`. */
function argsOf(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? { ...value }
    : { input: value };
}
