import type { CallRecord } from '../models/index.ts';
import type { Action, BranchId, Budget, Spent } from '../schema/index.ts';
import { CallWaits } from './call-waits.ts';
import { type Ending, endingOf, timeUp } from './ending.ts';
import type { StepResult } from './environment.ts';
import type { GateDecision } from './gate.ts';
import { LiveRun } from './live-run.ts';
import { Replay } from './replay.ts';
import { readAction } from './requested-action.ts';
import { RunEnding } from './run-ending.ts';
import type { RunEnvironmentOptions } from './run-environment-options.ts';
import type { FinalState } from './step-recorder.ts';
import type { ToolReply } from './tool-access.ts';
import type { StepUsage } from './usage-meter.ts';

/** What a program did with one answer of its model: a step of its run. */
export interface EndedTurn {
  action: Action;
  status: 'ok' | 'failed';
  observation: string;
  /** When it got the answer, by `performance.now()`. */
  began: number;
  usage: StepUsage;
}

/**
 * The environment of a run whose agent is an autonomous program in the run's sandbox. Its actions are recorded as steps
 * and its model calls as calls, and the run's limits end it. Nothing of it is replayed.
 */
export class ProgramEnvironment implements AsyncDisposable {
  readonly #options: RunEnvironmentOptions;
  readonly #state = new RunEnding();
  readonly #run: LiveRun;
  readonly #over = new AbortController();
  readonly #waits: CallWaits;

  constructor(options: RunEnvironmentOptions) {
    this.#options = options;
    this.#run = new LiveRun(options, new Map(), new Replay(options.recorded), this.#state);
    this.#waits = new CallWaits(() => this.#run.clock.pause());
    this.#state.onFailure(() => this.#over.abort());
  }

  /** How the run ended; null while it is running. */
  get ending(): Ending | null {
    return this.#state.ending;
  }

  get stepsTaken(): number {
    return this.#run.stepsTaken;
  }

  get secondsUsed(): number {
    return this.#run.clock.secondsUsed;
  }

  get modelSeconds(): number {
    return this.#run.clock.modelSeconds;
  }

  get spent(): Spent {
    return this.#run.spent;
  }

  /**
   * Runs the program.
   * @param work gets a signal that is aborted when the program must end
   */
  async during(work: (over: AbortSignal) => Promise<void>): Promise<void> {
    const { signal, limits } = this.#options;
    using deadline = this.#run.clock.deadline();
    const late = () => this.close(timeUp(limits));
    if (deadline.signal.aborted) late();
    else deadline.signal.addEventListener('abort', late, { once: true });
    await this.#run.program(() => work(AbortSignal.any([this.#over.signal, signal])));
    this.#state.throwIfFailed();
  }

  /**
   * Whether model calls are refused.
   * @returns why, if the run is over; else null
   */
  closed(): string | null {
    const ending = this.#state.ending ?? endingOf(null, this.#run.budget(), this.#options.limits);
    if (ending !== null) this.close(ending);
    return ending?.message ?? null;
  }

  async turn({ action, status, observation, began, usage }: EndedTurn): Promise<StepResult> {
    const outcome = { status, observation };
    const result = await this.#run.turn({ action: readAction(action), outcome, began, usage });
    if (result.ended) this.#over.abort();
    return result;
  }

  /** What the run may still use. */
  get budget(): Budget {
    return this.#run.budget();
  }

  /** The decision on a program's request for permission; null: nobody decides, so it may. */
  permission(action: Action): Promise<GateDecision | null> {
    return this.#run.permission(readAction(action), this.#over.signal);
  }

  /** Marks the start of a model call for the program; the returned function marks its end. */
  asking(): () => void {
    return this.#run.clock.startModelCall();
  }

  /**
   * Called when a model call has to wait until this settles: for its provider or for calls of others. That does not
   * count as the run's time, unless another of its calls is being answered.
   */
  waits(until: Promise<unknown>): void {
    this.#waits.waits(until);
  }

  /** Called when a model call was sent, which is being answered until this settles. */
  sent(until: Promise<unknown>): void {
    this.#waits.sent(until);
  }

  called(call: CallRecord): void {
    this.#run.called(call);
    if (this.#run.endWhereFull() !== null) this.#over.abort();
  }

  note(entries: Record<string, string>): void {
    this.#run.note(entries);
  }

  /** Ends the run and the program. */
  close(ending: Ending): void {
    this.#state.end(ending);
    this.#over.abort();
  }

  /** Reports an infrastructure failure, after which the run can't go on. */
  fail(error: unknown): void {
    this.#state.fail(error);
  }

  askForTool(...asked: Parameters<LiveRun['askForTool']>): Promise<ToolReply> {
    const reply = this.#run.askForTool(...asked);
    this.#waits.sent(reply);
    return reply;
  }

  /** @param ending how the run ended, unless something ended it before */
  async end(ending: Ending): Promise<Ending> {
    this.#state.throwIfFailed();
    this.#state.end(ending);
    return this.#state.ending ?? ending;
  }

  /** The workspace for grading. */
  async finalState(): Promise<FinalState & { branch: BranchId }> {
    return { branch: 'main', ...(await this.#run.finalState('main')) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#run[Symbol.asyncDispose]();
  }
}
