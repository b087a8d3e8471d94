import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { BranchId, ModelRequest, Spent } from '../schema/index.ts';
import { describeAction } from './action.ts';
import { offeredActions } from './action-definitions.ts';
import { AgentEnvironment } from './agent-environment.ts';
import { type Ending, timeUp } from './ending.ts';
import type { ModelReply } from './environment.ts';
import { LiveRun } from './live-run.ts';
import { ModelNotDeclared } from './model-not-declared.ts';
import { Replay } from './replay.ts';
import { RunEnding } from './run-ending.ts';
import type { RunEnvironmentOptions } from './run-environment-options.ts';
import type { FinalState } from './step-recorder.ts';
import type { ToolReply } from './tool-access.ts';

/** An agent that does nothing for this long after the run's end is considered hung. */
const hungAfterMs = 5_000;

/** The environment of an executed run: it performs what its trace has no result for. */
export class RunEnvironment extends AgentEnvironment implements AsyncDisposable {
  readonly #options: RunEnvironmentOptions;
  readonly #state: RunEnding;
  readonly #run: LiveRun;

  constructor(options: RunEnvironmentOptions) {
    const { task, limits, recorded } = options;
    const definitions = offeredActions({
      model: options.models !== undefined,
      person: options.askPerson !== undefined,
    });
    const actions = [...definitions.values()].map(describeAction);
    const replay = new Replay(recorded);
    const state = new RunEnding();
    const continuation = new LiveRun(options, definitions, replay, state);
    super({ task, actions, limits, recorded, replay, state, continuation });
    this.#options = options;
    this.#state = state;
    this.#run = continuation;
  }

  override async ask(request: ModelRequest): Promise<ModelReply> {
    if (this.#options.models === undefined) throw new ModelNotDeclared();
    return await super.ask(request);
  }

  /** How the run ended; null while it is running. */
  get ending(): Ending | null {
    return this.#state.ending;
  }

  /** The steps of all branches. */
  get stepsTaken(): number {
    return this.#run.stepsTaken;
  }

  get secondsUsed(): number {
    return this.#run.clock.secondsUsed;
  }

  get modelSeconds(): number {
    return this.#run.clock.modelSeconds;
  }

  /** The use of language models in this and earlier sessions. */
  get spent(): Spent {
    return this.#run.spent;
  }

  /** Calls the run's model for a tool in the current step on `main`. Never rejects. */
  askForTool(request: ModelRequest): Promise<ToolReply> {
    return this.#run.askForTool(request);
  }

  /**
   * Ends the run after the agent has returned. What it asked for without waiting is done first.
   * @param ending how the run ended, unless something ended it before
   * @throws infrastructure failures
   */
  async end(ending: Ending): Promise<Ending> {
    await this.finish();
    this.#state.throwIfFailed();
    this.#state.end(ending);
    return this.#state.ending ?? ending;
  }

  /**
   * Resolves if the run's time is up, or it was stopped, but the agent has done nothing for a while: it hangs.
   * @param over aborted when nobody waits for this any more
   */
  async abandoned(over: AbortSignal): Promise<void> {
    const { signal, limits } = this.#options;
    using deadline = this.#run.clock.deadline();
    const ended = AbortSignal.any([deadline.signal, signal, over]);
    if (!ended.aborted) await once(ended, 'abort');
    while (!over.aborted && !this.#run.activity.isQuietFor(hungAfterMs)) await delay(hungAfterMs / 20);
    if (deadline.signal.aborted) this.#state.end(timeUp(limits));
  }

  /** The workspace for grading, and its branch. */
  async finalState(): Promise<FinalState & { branch: BranchId }> {
    return { branch: this.selected, ...(await this.#run.finalState(this.selected)) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#run[Symbol.asyncDispose]();
  }
}
