import type {
  BranchId,
  BranchOrigin,
  Budget,
  EventOf,
  Limits,
  ModelRequest,
  TaskBrief,
} from '../schema/index.ts';
import { describeAction } from './action.ts';
import { offeredActions } from './action-definitions.ts';
import { AgentEnvironment } from './agent-environment.ts';
import { wholeBudget } from './budget-clock.ts';
import type { Continuation } from './continuation.ts';
import type { GiveUpReason, ModelReply } from './environment.ts';
import { ModelNotDeclared } from './model-not-declared.ts';
import type { RecordedRun } from './recorded-run.ts';
import { Replay } from './replay.ts';
import { ReplayDiverged } from './replay-differences.ts';
import type { RequestedAction } from './requested-action.ts';
import { RunEnding } from './run-ending.ts';

export interface ReplayEnvironmentOptions {
  task: TaskBrief;
  limits: Limits;
  recorded: RecordedRun;
  /** How the run ended; null if it has not. */
  end: EventOf<'run_ended'> | null;
  /** What the run had. */
  there: { model: boolean; person: boolean };
}

/** The trace of an unfinished run has no more records. */
export class TraceExhausted extends Error {
  override readonly name = 'TraceExhausted';
}

/** Endings that an agent learns of through its next action, which is not recorded. */
const closings: ReadonlySet<string> = new Set([
  ...['time_limit', 'step_limit', 'token_limit', 'money_limit', 'storage_limit'],
]);

/** Answers an agent from a trace alone: executes nothing, and calls no model. */
export class ReplayEnvironment extends AgentEnvironment {
  readonly #replay: Replay;
  readonly #hasModel: boolean;
  /** Why the agent ended the run, if it did. */
  givenUp: { reason: GiveUpReason; message: string } | null = null;

  constructor({ task, limits, recorded, end, there }: ReplayEnvironmentOptions) {
    const actions = [...offeredActions(there).values()].map(describeAction);
    const replay = new Replay(recorded);
    const state = new RunEnding();
    const continuation = new TraceEnd(recorded, limits, end, state);
    super({ ...{ task, actions, limits, recorded, replay, state, continuation } });
    this.#replay = replay;
    this.#hasModel = there.model;
  }

  /** Records that the agent did not ask for again, in words; null if there are none. */
  get missing(): string | null {
    return this.#replay.missing;
  }

  /** Resolves when everything that the agent asked for without waiting has been answered. */
  async end(): Promise<void> {
    await this.finish();
  }

  override async ask(request: ModelRequest): Promise<ModelReply> {
    if (!this.#hasModel) throw new ModelNotDeclared();
    return await super.ask(request);
  }

  override giveUp(reason: GiveUpReason, message: string): void {
    this.givenUp ??= { reason, message };
    super.giveUp(reason, message);
  }
}

/** What an agent gets when it continues after the last record. */
class TraceEnd implements Continuation {
  readonly #recorded: RecordedRun;
  readonly #limits: Limits;
  readonly #end: EventOf<'run_ended'> | null;
  readonly #state: RunEnding;

  constructor(recorded: RecordedRun, limits: Limits, end: EventOf<'run_ended'> | null, state: RunEnding) {
    this.#recorded = recorded;
    this.#limits = limits;
    this.#end = end;
    this.#state = state;
  }

  async step(_branch: { id: BranchId }, action: RequestedAction): Promise<null> {
    this.#close(`"${action.name}" ${action.text.slice(0, 200)}`);
    return null;
  }

  async ask(request: ModelRequest): Promise<ModelReply> {
    return { kind: 'closed', message: this.#close(`a model call (${request.purpose})`) };
  }

  async fork(branch: BranchId, origin: BranchOrigin): Promise<false> {
    this.#close(`a fork (${branch}) of ${origin.branch} at step ${origin.step}`);
    return false;
  }

  repeated(): void {}

  /** A selection after the last record changes nothing. */
  select(): void {}

  note(): void {}

  budget(): Budget {
    return this.#recorded.steps.at(-1)?.budget ?? wholeBudget(this.#recorded.limits ?? this.#limits);
  }

  #close(what: string): string {
    if (this.#end === null) throw new TraceExhausted('the trace ends here');
    const { reason, message } = this.#end;
    if (!closings.has(reason))
      throw new ReplayDiverged(`The trace has ended (${reason}); the agent went on with ${what}.`);
    this.#state.end({ reason, message, finalAnswer: null });
    return message;
  }
}
