import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { BranchId, ModelRequest, ObjectId, Spent, SubmissionState } from '../schema/index.ts';
import { describeAction } from './action.ts';
import { offeredActions } from './action-definitions.ts';
import { AgentEnvironment } from './agent-environment.ts';
import { type Ending, timeUp } from './ending.ts';
import { LiveRun } from './live-run.ts';
import { Replay } from './replay.ts';
import type { RunEnvironmentOptions } from './run-environment-options.ts';
import { RunState } from './run-state.ts';
import type { ToolReply } from './tool-access.ts';

/** An agent that does nothing for so long after the run's end will not do anything any more. */
const patienceMs = 5_000;

/** The environment of a run that is executed: what its trace does not have is done. */
export class RunEnvironment extends AgentEnvironment implements AsyncDisposable {
  readonly #options: RunEnvironmentOptions;
  readonly #state: RunState;
  readonly #run: LiveRun;

  constructor(options: RunEnvironmentOptions) {
    const { task, limits, recorded } = options;
    const definitions = offeredActions({
      model: options.models !== undefined,
      person: options.askPerson !== undefined,
    });
    const actions = [...definitions.values()].map(describeAction);
    const replay = new Replay(recorded);
    const state = new RunState();
    const continuation = new LiveRun(options, definitions, replay, state);
    super({ task, actions, limits, recorded, replay, state, continuation });
    this.#options = options;
    this.#state = state;
    this.#run = continuation;
  }

  /** How the run ended; null while it goes on. */
  get ending(): Ending | null {
    return this.#state.ending;
  }

  /** Of all branches. */
  get stepsTaken(): number {
    return this.#run.stepsTaken;
  }

  get secondsUsed(): number {
    return this.#run.clock.secondsUsed;
  }

  get modelSeconds(): number {
    return this.#run.clock.modelSeconds;
  }

  /** What this session's and earlier calls of language models came to. */
  get spent(): Spent {
    return this.#run.spent;
  }

  /** Asks the run's model for a tool that the step under way on `main` runs. Never rejects. */
  askForTool(request: ModelRequest): Promise<ToolReply> {
    return this.#run.askForTool(request);
  }

  /**
   * The agent does nothing more. What it asked for and did not wait for is done first.
   * @param ending how the run ended where nothing has ended it before
   * @throws what the harness could not do
   */
  async end(ending: Ending): Promise<Ending> {
    await this.finish();
    this.#state.throwIfFailed();
    this.#state.end(ending);
    return this.#state.ending ?? ending;
  }

  /**
   * Resolves when the run's time is up, or it was stopped, and the agent has done nothing for a while: it hangs.
   * @param over aborted when nobody waits for this any more
   */
  async abandoned(over: AbortSignal): Promise<void> {
    const { signal, limits } = this.#options;
    using deadline = this.#run.clock.deadline();
    const ended = AbortSignal.any([deadline.signal, signal, over]);
    if (!ended.aborted) await once(ended, 'abort');
    while (!over.aborted && !this.#run.activity.isQuietFor(patienceMs)) await delay(patienceMs / 20);
    if (deadline.signal.aborted) this.#state.end(timeUp(limits));
  }

  /** The workspace as it is graded, and whose it is. */
  async finalState(): Promise<{ branch: BranchId; snapshot: ObjectId; submission: SubmissionState }> {
    return { branch: this.selected, ...(await this.#run.finalState(this.selected)) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#run[Symbol.asyncDispose]();
  }
}
