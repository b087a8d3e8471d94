import type { CallRecord } from '../models/index.ts';
import type { Action, BranchId, Budget, ObjectId, Spent, SubmissionState } from '../schema/index.ts';
import { readAction } from './asked-action.ts';
import { type Ending, endingOf, timeUp } from './ending.ts';
import type { StepResult } from './environment.ts';
import type { GateDecision } from './gate.ts';
import { LiveRun } from './live-run.ts';
import { Replay } from './replay.ts';
import type { RunEnvironmentOptions } from './run-environment-options.ts';
import { RunState } from './run-state.ts';
import type { ToolReply } from './tool-access.ts';
import type { StepUsage } from './usage-meter.ts';

/** What a program did with one answer of its model: a step of its run. */
export interface Turn {
  action: Action;
  status: 'ok' | 'failed';
  observation: string;
  /** When it got the answer, as `performance.now()` says. */
  began: number;
  usage: StepUsage;
}

/**
 * The environment of a run whose agent is a program that acts by itself in the run's sandbox: what it does is recorded as
 * steps, its calls of language models as calls, and the run's limits end it. Nothing of it is replayed.
 */
export class ProgramEnvironment implements AsyncDisposable {
  readonly #options: RunEnvironmentOptions;
  readonly #state = new RunState();
  readonly #run: LiveRun;
  readonly #over = new AbortController();
  #waited: (milliseconds: number) => void = () => {};

  constructor(options: RunEnvironmentOptions) {
    this.#options = options;
    this.#run = new LiveRun(options, new Map(), new Replay(options.recorded), this.#state);
    this.#state.onFailure(() => this.#over.abort());
  }

  /** How the run ended; null while it goes on. */
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

  /** While the program runs. @param work given a signal that is aborted when the program is to end */
  async during(work: (over: AbortSignal) => Promise<void>): Promise<void> {
    const { signal, limits } = this.#options;
    using deadline = this.#run.clock.deadline();
    const late = () => this.close(timeUp(limits));
    if (deadline.signal.aborted) late();
    else deadline.signal.addEventListener('abort', late, { once: true });
    await this.#run.program(async (waited) => {
      this.#waited = waited;
      await work(AbortSignal.any([this.#over.signal, signal]));
    });
    this.#state.throwIfFailed();
  }

  /** Nothing more is asked of a model for it. @returns why, where the run is over */
  closed(): string | null {
    const ending = this.#state.ending ?? endingOf(null, this.#run.budget(), this.#options.limits);
    if (ending !== null) this.close(ending);
    return ending?.message ?? null;
  }

  async turn({ action, status, observation, began, usage }: Turn): Promise<StepResult> {
    const outcome = { status, observation };
    const result = await this.#run.turn({ action: readAction(action), outcome, began, usage });
    if (result.ended) this.#over.abort();
    return result;
  }

  /** What the run may still use. */
  get budget(): Budget {
    return this.#run.budget();
  }

  /** Whether the program may do what it asks a permission for; null: nobody decides on that, so it may. */
  permission(action: Action): Promise<GateDecision | null> {
    return this.#run.permission(readAction(action), this.#over.signal);
  }

  /** A model is asked for the program from now until what is returned is called. */
  asking(): () => void {
    return this.#run.clock.askingModel();
  }

  called(call: CallRecord): void {
    if (!this.#run.clock.standsForModels) this.#waited(call.waitingMs);
    this.#run.called(call);
    if (this.#run.endWhereFull() !== null) this.#over.abort();
  }

  note(entries: Record<string, string>): void {
    this.#run.note(entries);
  }

  /** The run is over, and the program with it. */
  close(ending: Ending): void {
    this.#state.end(ending);
    this.#over.abort();
  }

  /** The harness can't go on with the run. */
  fail(error: unknown): void {
    this.#state.fail(error);
  }

  askForTool(...asked: Parameters<LiveRun['askForTool']>): Promise<ToolReply> {
    return this.#run.askForTool(...asked);
  }

  /** @param ending how the run ended where nothing has ended it before */
  async end(ending: Ending): Promise<Ending> {
    this.#state.throwIfFailed();
    this.#state.end(ending);
    return this.#state.ending ?? ending;
  }

  /** The workspace as it is graded. */
  async finalState(): Promise<{ branch: BranchId; snapshot: ObjectId; submission: SubmissionState }> {
    return { branch: 'main', ...(await this.#run.finalState('main')) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#run[Symbol.asyncDispose]();
  }
}
