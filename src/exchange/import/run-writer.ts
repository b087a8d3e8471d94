import { defaultLimits, type EventOf, type ObjectId, type SubmissionState } from '../../schema/index.ts';
import type { TraceWriter } from '../../store/index.ts';
import type { OriginalCall, OriginalRun, OriginalStep } from '../original/original-run.ts';
import { yieldToSignals } from '../yield-to-signals.ts';
import { arrange, type OriginalEvent } from './arrange.ts';
import { callEvent } from './call-event.ts';
import { endOf, isExecution, isModelWritten, type OriginalEnd, statusOf } from './outcome.ts';
import { type ImportClock, innerByStep, listingBefore, milliseconds, startOf } from './recorded-time.ts';
import type { KeptWorkspace, Workspaces } from './workspaces.ts';

const maxChangedListed = 100;

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
  /** Of our task with that name; empty if there is none. */
  entry: string;
  submission: readonly string[];
  signal: AbortSignal;
}

/** Writes a run as a trace of ours: one step per environment step of the original. */
export async function writeRun(options: RunWriterOptions): Promise<WrittenRun> {
  return await new RunWriter(options).write();
}

class RunWriter {
  readonly #options: RunWriterOptions;
  readonly #start: number;
  readonly #inner: ReadonlyMap<number, OriginalStep[]>;
  #calls = 0;
  #steps = 0;
  /** What must be written before the next step, in order. */
  #scenes: OriginalEvent[] = [];
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
      await yieldToSignals(signal);
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

  async #step({ index, step, calls }: Extract<OriginalEvent, { kind: 'step' }>): Promise<void> {
    const { run, trace, clock, workspaces } = this.#options;
    const number = index + 1;
    const gap = Math.max(0, milliseconds(step) - clock.now());
    const waits = isExecution(step)
      ? 0
      : gap / Math.max(1, this.#scenes.filter(isCall).length + calls.length);
    // A script ran up to the step's end; before any other step, its models answered up to then.
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
      changed: kept.changed.slice(0, maxChangedListed),
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

  /** @param whole for the whole run, if the original recorded how long it took */
  #secondsUsed(whole: boolean): number {
    const { run, clock } = this.#options;
    const recorded = Math.max(0, clock.now() - this.#start) / 1000;
    return Math.round((whole ? Math.max(recorded, run.seconds ?? 0) : recorded) * 1000) / 1000;
  }

  /** @param waits milliseconds per call */
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
    const caller = step === null ? undefined : run.steps[step - 1];
    this.#calls += 1;
    const place = { number: this.#calls, step, caller, waits };
    trace.append(callEvent(call, place, run.model, (text) => trace.textRef(text)));
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

function isCall(scene: OriginalEvent): boolean {
  return scene.kind === 'call';
}
