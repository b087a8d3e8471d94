import { z } from 'zod';
import { parsedAs } from '../../lib/json-values.ts';
import {
  type StepAction,
  type StepArgument,
  type StepCall,
  type StepEntry,
  type StepPage,
  searchNodeEntry,
  type TextRef,
  type TraceEventOf,
} from '../../schema/index.ts';
import type { TracedAction } from '../../store/index.ts';
import { stepEvents } from '../trace/read-events.ts';
import { cell, shownSteps, type TraceTable } from '../trace/trace-table.ts';
import { messagesOf, newMessagesOf } from './call-messages.ts';
import type { ShownTexts } from './shown-texts.ts';
import { shownCall } from './step-call.ts';
import { readStepEvents, snapshotAfter } from './step-events.ts';

/** A run whose trace has been read. */
export interface TracedRun {
  path: string;
  table: TraceTable;
  /** Whether a process executes it. */
  isRunning: boolean;
}

/** The part of a step that is in the trace; warnings and grade come from elsewhere. */
export type TracedStep = Omit<StepPage, 'warnings' | 'grade'>;

/** How many entries of a step's notes are shown. */
const maxEntries = 200;
/** How much of a running script's output is shown. */
const outputLength = 60_000;

export async function readStep(
  run: TracedRun,
  step: number,
  texts: ShownTexts,
  signal?: AbortSignal,
): Promise<TracedStep> {
  const { path, table } = run;
  if (step === 0) return { ...emptyStep(run, 0), snapshot: await snapshotAfter(path, table, 0, signal) };
  const events = await readStepEvents(path, table, step, signal);
  const { started, decided, finished } = events;
  const isOpen = started !== null && finished === null;
  const calls: StepCall[] = [];
  for (const [index, call] of events.calls.entries()) {
    const messages = texts.isExport ? newMessagesOf(table, call) : await messagesOf(path, table, call);
    calls.push(shownCall(texts, call, messages, `call.${index}`));
  }
  return {
    ...emptyStep(run, step),
    action: started?.performed.action ?? null,
    arguments: started === null ? [] : argumentsOf(texts, started.performed.args, 'argument'),
    proposed: started?.proposed ? actionOf(texts, started.proposed, 'proposed') : null,
    actor: started?.actor ?? null,
    decision: decided && decisionOf(texts, decided),
    status: finished?.status ?? (isOpen ? openStatus(run) : null),
    ...(await entriesOf(run, step, events.notes, texts, signal)),
    calls,
    output: isOpen ? await outputOf(run, step, signal) : null,
    started: started?.time ?? null,
    resumed: events.sessions.some(({ session }) => session > 1),
    ...(finished === null ? {} : outcomeOf(texts, finished)),
  };
}

/** The status of a step that was begun and has not ended. */
export function openStatus({ isRunning, table }: TracedRun): 'running' | 'cut_off' {
  return isRunning && table.ending === null ? 'running' : 'cut_off';
}

function emptyStep({ table }: TracedRun, step: number): TracedStep {
  return {
    ...{ step, total: shownSteps(table), action: null, arguments: [], status: null, calls: [] },
    ...{ entries: [], more_entries: 0 },
    ...{ inner: [], observation: null, output: null, by_model: false, started: null, duration_ms: null },
    ...{ overhead_ms: null, exit_code: null, cpu_seconds: null, peak_memory_bytes: null, changed: [] },
    ...{ changed_count: 0, submission: null, budget: null, snapshot: null, resumed: false, actor: null },
    ...{ decision: null, proposed: null },
  };
}

function outcomeOf(texts: ShownTexts, finished: TraceEventOf<'step_finished'>): Partial<TracedStep> {
  const { duration_ms, overhead_ms, exit_code, changed, changed_count, submission, budget, snapshot } =
    finished;
  const inner = (finished.inner ?? []).map(({ action, args, observation, time }, index) => ({
    ...{ action, time, args: texts.ref(`inner.${index}.args`, args, 'short') },
    observation: texts.ref(`inner.${index}.observation`, observation, 'middle'),
  }));
  return {
    ...{ inner, observation: texts.ref('observation', finished.observation, 'long') },
    by_model: finished.by_model ?? false,
    ...{ duration_ms, overhead_ms, exit_code, changed, changed_count, submission, budget, snapshot },
    cpu_seconds: finished.cpu_seconds ?? null,
    peak_memory_bytes: finished.peak_memory_bytes ?? null,
  };
}

function decisionOf(texts: ShownTexts, decided: TraceEventOf<'action_decided'>): StepPage['decision'] {
  const { actor, verdict, reason, replacement } = decided;
  const instead = replacement === undefined ? null : actionOf(texts, replacement, 'replacement');
  return { actor, verdict, reason: reason ?? null, replacement: instead };
}

function actionOf(texts: ShownTexts, { action, args }: TracedAction, part: string): StepAction {
  return { action, arguments: argumentsOf(texts, args, part) };
}

/** Each argument as a text of its own; arguments that are not an object are one text. */
function argumentsOf(texts: ShownTexts, args: TextRef, part: string): StepArgument[] {
  const read = texts.read(args);
  if ('unreadable' in read)
    return [{ name: 'args', text: texts.unreadable(read.unreadable), is_text: false }];
  const object = parsedAs(z.record(z.string(), z.unknown()), read.text);
  if (object === null)
    return [{ name: 'args', text: texts.text(`${part}.0`, read.text, 'long'), is_text: false }];
  return Object.entries(object).map(([name, value], index) => {
    const isText = typeof value === 'string';
    const text = isText ? value : JSON.stringify(value, null, 2);
    return { name, text: texts.text(`${part}.${index}`, text, 'long'), is_text: isText };
  });
}

/** The agent's notes for this step, each with the previous note of the same name. */
async function entriesOf(
  run: TracedRun,
  step: number,
  notes: readonly TraceEventOf<'note'>[],
  texts: ShownTexts,
  signal?: AbortSignal,
): Promise<Pick<StepPage, 'entries' | 'more_entries'>> {
  // The run's page shows all attempts together.
  const entries = entriesIn(notes).filter(([name]) => name !== searchNodeEntry);
  const shown = entries.slice(0, maxEntries);
  const last = await entriesBefore(run, step, new Set(shown.map(([name]) => name)), signal);
  const withEarlier = shown.map(([name, ref], index): StepEntry => {
    const earlier = last.get(name);
    last.set(name, { step, ref });
    return {
      name,
      text: texts.ref(`entry.${index}`, ref, 'middle'),
      before: earlier
        ? { step: earlier.step, text: texts.ref(`entry.${index}.before`, earlier.ref, 'middle') }
        : null,
    };
  });
  return { entries: withEarlier, more_entries: entries.length - shown.length };
}

function entriesIn(notes: readonly TraceEventOf<'note'>[]): [name: string, ref: TextRef][] {
  return notes.flatMap((note) => Object.entries(note.entries));
}

/** The last entry before a step of each of these names. */
async function entriesBefore(
  { path, table }: TracedRun,
  step: number,
  names: ReadonlySet<string>,
  signal?: AbortSignal,
): Promise<Map<string, { step: number; ref: TextRef }>> {
  const found = new Map<string, { step: number; ref: TextRef }>();
  const missing = new Set([...names].filter((name) => table.entryNames.includes(name)));
  for (let earlier = step - 1; earlier >= 1 && missing.size > 0; earlier--) {
    const bits = cell(table, 'entries', earlier);
    if (!table.entryNames.some((name, bit) => missing.has(name) && (bits & (2 ** bit)) !== 0)) continue;
    const { notes } = await readStepEvents(path, table, earlier, signal);
    for (const [name, ref] of entriesIn(notes).reverse())
      if (missing.delete(name)) found.set(name, { step: earlier, ref });
  }
  return found;
}

/** The end of what the script of the current step has printed. */
export async function outputOf(
  { path, table }: TracedRun,
  step: number,
  signal?: AbortSignal,
): Promise<StepPage['output']> {
  let from = 0;
  let text = '';
  for await (const event of stepEvents(path, table, step, { withOutput: true, signal })) {
    // Output before a session broke off is printed again.
    if (event.kind === 'step_started') ({ from, text } = { from: 0, text: '' });
    if (event.kind !== 'output') continue;
    text += event.text;
    if (text.length < 2 * outputLength) continue;
    from += text.length - outputLength;
    text = text.slice(-outputLength);
  }
  const shown = text.slice(-outputLength);
  return { from: from + text.length - shown.length, text: shown.toWellFormed() };
}
