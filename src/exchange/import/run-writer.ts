import { sha256 } from '../../lib/hash.ts';
import {
  defaultLimits,
  type EventOf,
  ModelName,
  type ModelRole,
  type ObjectId,
  type SubmissionState,
} from '../../schema/index.ts';
import type { TraceWriter } from '../../store/index.ts';
import type { OriginalCall, OriginalFile, OriginalRun, OriginalStep } from '../original/original-run.ts';
import { slug } from '../task-names.ts';
import { arrange, type Scene } from './arrange.ts';
import { endOf, isExecution, isModelWritten, type OriginalEnd, statusOf } from './outcome.ts';
import type { KeptWorkspace, Workspaces } from './workspaces.ts';

const mostChangedListed = 100;
/** Low-level steps of the original that change no file. */
const reading: ReadonlySet<string> = new Set(['Read File', 'List Files']);
const idleActions: ReadonlySet<string> = new Set([
  ...['Read File', 'List Files', 'Understand File', 'Inspect Script Lines', 'Retrieval from Research Log'],
  ...['Reflection', 'Final Answer'],
]);

export interface WrittenRun {
  end: OriginalEnd | null;
  started: number;
  ended: number;
  steps: number;
  secondsUsed: number;
}

export interface RunWriterOptions {
  run: OriginalRun;
  /** Opened with the clock of this writer, see `ImportClock`. */
  trace: TraceWriter;
  clock: ImportClock;
  workspaces: Workspaces;
  /** Of our task of that name; empty where there is none. */
  entry: string;
  submission: readonly string[];
  signal: AbortSignal;
}

/** The time of events, in milliseconds since 1970: taken from the recording, and never going back. */
export class ImportClock {
  #time = 0;

  now = (): number => this.#time;

  advance(time: number): void {
    this.#time = Math.max(this.#time, time);
  }
}

/** `provider/name` of a model of the original. */
export function modelNameOf(model: string): ModelName {
  const name = model.replaceAll(/\s+/g, '-');
  return ModelName.parse(`mlagentbench/${name === '' ? 'unnamed' : name}`);
}

/** Writes a run as a trace of our own: one step for each environment step of the original. */
export async function writeRun(options: RunWriterOptions): Promise<WrittenRun> {
  return await new RunWriter(options).write();
}

class RunWriter {
  readonly #options: RunWriterOptions;
  readonly #start: number;
  readonly #inner: ReadonlyMap<number, OriginalStep[]>;
  #calls = 0;
  #steps = 0;
  /** What has to be written before the next step, in its order. */
  #scenes: Scene[] = [];
  #last: { snapshot: ObjectId; submission: SubmissionState } | null = null;

  constructor(options: RunWriterOptions) {
    this.#options = options;
    this.#start = startOf(options.run);
    this.#inner = innerByStep(options.run);
  }

  async write(): Promise<WrittenRun> {
    const { run, clock, signal } = this.#options;
    clock.advance(this.#start);
    const started = clock.now();
    await this.#begin();
    const scenes = arrange(run);
    for (const scene of scenes) {
      signal.throwIfAborted();
      if (scene.kind === 'step') await this.#step(scene);
      else this.#scenes.push(scene);
    }
    this.#flush(0);
    const end = endOf(run, scenes);
    if (end !== null) await this.#end(end);
    const secondsUsed = this.#secondsUsed(end !== null);
    return { end, started, ended: clock.now(), steps: this.#steps, secondsUsed };
  }

  async #begin(): Promise<void> {
    const { run, trace, clock, workspaces, entry, submission } = this.#options;
    const before = await workspaces.keep(listingBefore(run), 0, clock.now());
    this.#last = before;
    trace.append({
      kind: 'session_started',
      session: 1,
      versions: { format: 'mlagentbench' },
      snapshot: before.snapshot,
      repaired_bytes: 0,
      task: { problem: trace.textRef(run.problem), entry, submission: [...submission] },
      seconds_used: 0,
    });
  }

  async #step({ index, step, calls }: Extract<Scene, { kind: 'step' }>): Promise<void> {
    const { run, trace, clock, workspaces } = this.#options;
    const number = index + 1;
    const gap = Math.max(0, milliseconds(step) - clock.now());
    const waits = isExecution(step)
      ? 0
      : gap / Math.max(1, this.#scenes.filter(isCall).length + calls.length);
    // A script ran up to the step's end; before any other step its models answered up to there.
    if (!isExecution(step)) clock.advance(milliseconds(step));
    this.#flush(waits);
    const { name, args } = step.action;
    trace.append({
      kind: 'step_started',
      step: number,
      action: name,
      args: trace.textRef(JSON.stringify(args)),
    });
    clock.advance(milliseconds(step));
    for (const call of calls) this.#call(call, number, waits);
    const kept = await workspaces.keep(run.snapshots.get(index) ?? null, number, clock.now());
    this.#last = kept;
    this.#steps = number;
    trace.append(this.#finished(step, number, isExecution(step) ? gap : 0, kept));
  }

  #finished(
    step: OriginalStep,
    number: number,
    duration: number,
    kept: KeptWorkspace,
  ): EventOf<'step_finished'> {
    const { trace } = this.#options;
    const inner = this.#inner.get(number - 1) ?? [];
    return {
      kind: 'step_finished',
      step: number,
      status: statusOf(step),
      observation: trace.textRef(step.observation),
      duration_ms: Math.round(duration),
      // The original records none.
      exit_code: null,
      snapshot: kept.snapshot,
      changed: kept.changed.slice(0, mostChangedListed),
      changed_count: kept.changed.length,
      undo: [],
      undone: [],
      submission: kept.submission,
      budget: this.#budget(number),
      ...(isModelWritten(step) ? { by_model: true } : {}),
      overhead_ms: 0,
      ...(inner.length === 0 ? {} : { inner: inner.map((one) => this.#innerStep(one)) }),
    };
  }

  #innerStep(step: OriginalStep) {
    const { trace } = this.#options;
    const { action, observation } = step;
    return {
      action: action.name,
      args: trace.textRef(JSON.stringify(action.args)),
      observation: trace.textRef(observation),
      time: milliseconds(step),
    };
  }

  #budget(steps: number) {
    const used = this.#secondsUsed(false);
    return {
      steps_left: Math.max(0, defaultLimits.steps - steps),
      seconds_left: Math.max(0, defaultLimits.wall_seconds - used),
      steps_used: steps,
      seconds_used: used,
      tokens_left: null,
      money_left: null,
    };
  }

  /** @param whole of the whole run, as far as the original says how long it took */
  #secondsUsed(whole: boolean): number {
    const { run, clock } = this.#options;
    const recorded = Math.max(0, clock.now() - this.#start) / 1000;
    return Math.round((whole ? Math.max(recorded, run.seconds ?? 0) : recorded) * 1000) / 1000;
  }

  /** @param waits milliseconds for each call */
  #flush(waits: number): void {
    for (const scene of this.#scenes.splice(0)) {
      if (scene.kind === 'call') this.#call(scene.call, null, waits);
      if (scene.kind === 'reply') this.#note(scene.entries, scene.problem);
    }
  }

  #note(entries: Readonly<Record<string, string>>, problem: string | null): void {
    const { trace } = this.#options;
    const all = problem === null ? entries : { ...entries, 'Format error': problem };
    const refs = Object.entries(all).map(([name, text]) => [name, trace.textRef(text)] as const);
    if (refs.length > 0) trace.append({ kind: 'note', entries: Object.fromEntries(refs) });
  }

  #call(call: OriginalCall, step: number | null, waits: number): void {
    const { trace, run } = this.#options;
    const role = roleOf(call, run.steps[(step ?? 0) - 1]);
    const message = { role: 'user', text: call.prompt.toWellFormed() };
    const answer = { kind: 'answered', text: call.completion, tool_calls: [], finish: 'other' };
    trace.append({
      kind: 'model_call',
      call: ++this.#calls,
      step,
      role,
      purpose: purposeOf(call, run.steps[(step ?? 0) - 1]),
      model: modelNameOf(slug(call.model, 60) === 'unnamed' ? run.model : call.model),
      answered_by: null,
      temperature: null,
      max_output_tokens: call.max_tokens,
      request: sha256(JSON.stringify([role, [message], [], []])),
      messages: [trace.textRef(JSON.stringify(message))],
      tools: null,
      stop: [],
      answer: trace.textRef(JSON.stringify(answer)),
      failure: null,
      usage: usageOf(call),
      cost: null,
      latency_ms: Math.round(waits),
      waiting_ms: 0,
      attempts: [],
    });
  }

  async #end({ reason, message, finalAnswer }: OriginalEnd): Promise<void> {
    const { run, trace, clock, workspaces } = this.#options;
    const listing = run.snapshots.get('final');
    const last =
      listing === undefined ? this.#last : await workspaces.keep(listing, this.#steps, clock.now());
    trace.append({
      kind: 'run_ended',
      reason,
      message,
      final_answer: finalAnswer === null ? null : trace.textRef(finalAnswer),
      snapshot: last?.snapshot ?? null,
      submission: last?.submission ?? null,
      seconds_used: this.#secondsUsed(true),
    });
  }
}

function isCall(scene: Scene): boolean {
  return scene.kind === 'call';
}

/**
 * Milliseconds since 1970. The original notes how long a run took, up to shortly after its last step; a run that an
 * exception ended may have gone on long after it.
 */
function startOf({ steps, innerSteps, seconds, error }: OriginalRun): number {
  const times = [steps[0], innerSteps[0]].flatMap((step) => (step === undefined ? [] : milliseconds(step)));
  if (times.length === 0) return 0;
  const last = steps.at(-1);
  const isTimed = seconds !== null && error === null && last !== undefined;
  return Math.max(
    0,
    Math.min(...times, ...(isTimed ? [milliseconds(last) - Math.round(seconds * 1000)] : [])),
  );
}

function milliseconds({ timestamp }: OriginalStep): number {
  return Math.round(timestamp * 1000);
}

/** A low-level step belongs to the first step that ended no earlier than it. */
function innerByStep({
  steps,
  innerSteps,
}: Pick<OriginalRun, 'steps' | 'innerSteps'>): Map<number, OriginalStep[]> {
  const inner = new Map<number, OriginalStep[]>();
  let index = 0;
  for (const step of innerSteps) {
    while ((steps[index]?.timestamp ?? Number.POSITIVE_INFINITY) < step.timestamp) index += 1;
    inner.set(index, [...(inner.get(index) ?? []), step]);
  }
  return inner;
}

/** The workspace before the first step is not recorded: it is the one after it, if that step changed nothing. */
function listingBefore({ steps, innerSteps, snapshots }: OriginalRun): OriginalFile[] | null {
  const [first] = steps;
  if (first === undefined) return snapshots.get('final') ?? null;
  const inside = innerByStep({ steps, innerSteps }).get(0) ?? [];
  const changedNothing =
    idleActions.has(first.action.name) && inside.every(({ action }) => reading.has(action.name));
  return changedNothing ? (snapshots.get(0) ?? null) : null;
}

function roleOf({ role }: OriginalCall, step: OriginalStep | undefined): ModelRole {
  if (role === 'agent') return 'agent';
  return role === 'tool' && step?.action.name.startsWith('Edit Script') ? 'editor' : 'fast';
}

/** In the words of our own agents and actions. */
function purposeOf({ role }: OriginalCall, step: OriginalStep | undefined): string {
  if (role === 'agent') return 'act';
  if (role === 'summary') return 'summarise a step';
  if (role === 'summarize_observation') return 'summarise an observation';
  return step === undefined ? 'a step that was not recorded' : step.action.name;
}

/** The original counts with one tokeniser for all models. */
function usageOf({ prompt_tokens, sampled_tokens }: OriginalCall) {
  const none = { cached_input: 0, cache_write: 0, reasoning: 0 };
  return { input: prompt_tokens, ...none, output: sampled_tokens, source: 'estimate' as const };
}
