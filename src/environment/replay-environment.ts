import type { Action, EventOf, Limits, ModelRequest, TaskBrief } from '../schema/index.ts';
import { describeAction } from './action.ts';
import { offeredActions } from './action-definitions.ts';
import { type AskedAction, readAction } from './asked-action.ts';
import { wholeBudget } from './budget-clock.ts';
import type { Ending } from './ending.ts';
import type { ActionDescription, Environment, GiveUpReason, ModelReply, StepResult } from './environment.ts';
import { type RecordedRun, Replay, ReplayDiverged, repeatStep } from './replay.ts';
import { normalRequest } from './request-hash.ts';
import { Turns } from './turns.ts';

export interface ReplayEnvironmentOptions {
  task: TaskBrief;
  limits: Limits;
  recorded: RecordedRun;
  /** How the run ended; null where it has not. */
  end: EventOf<'run_ended'> | null;
  /** What was there when it ran. */
  there: { model: boolean; person: boolean };
}

/** The trace of a run that has not ended holds nothing more. */
export class TraceExhausted extends Error {
  override readonly name = 'TraceExhausted';
}

/** Endings that an agent learns of by its next action, which is not recorded. */
const closings: ReadonlySet<string> = new Set([
  ...['time_limit', 'step_limit', 'token_limit', 'money_limit', 'storage_limit'],
]);

const noSubmission = { present: false, written_at_step: null, stale: false };

/** Answers an agent from a trace alone: nothing is executed, and no model asked. */
export class ReplayEnvironment implements Environment {
  readonly task: TaskBrief;
  readonly actions: readonly ActionDescription[];
  readonly budget;
  readonly #options: ReplayEnvironmentOptions;
  readonly #replay: Replay;
  readonly #turns = new Turns();
  #ending: Ending | null = null;
  #last: StepResult | null = null;
  /** Why the agent ended the run, where it said so. */
  givenUp: { reason: GiveUpReason; message: string } | null = null;

  constructor(options: ReplayEnvironmentOptions) {
    this.#options = options;
    this.task = options.task;
    this.actions = [...offeredActions(options.there).values()].map(describeAction);
    this.budget = wholeBudget(options.recorded.limits ?? options.limits);
    this.#replay = new Replay(options.recorded);
  }

  /** What is recorded and was not asked for again, in words; null when all was. */
  get missing(): string | null {
    return this.#replay.missing;
  }

  /** What the agent did other than recorded, or that the trace holds nothing more; null where neither came up. */
  get failure(): { error: unknown } | null {
    return this.#turns.failure;
  }

  step(asked: Action): Promise<StepResult> {
    const action = readAction(asked);
    return this.#turns.take(() => this.#take(action));
  }

  #take(action: AskedAction): StepResult {
    if (this.#ending !== null) return this.#closed(this.#ending.message);
    const recorded = this.#replay.step(action);
    if (recorded === null)
      return this.#closed(this.#afterEnd(`"${action.name}" ${action.text.slice(0, 200)}`));
    const { result, ending } = repeatStep(action, recorded, this.#options.limits);
    this.#ending = ending;
    this.#last = result;
    return result;
  }

  async ask(asked: ModelRequest): Promise<ModelReply> {
    const request = normalRequest(asked);
    return this.#turns.take(() => {
      if (this.#ending !== null) return { kind: 'closed', message: this.#ending.message };
      const recorded = this.#replay.ask(request);
      const message = () => this.#afterEnd(`a model call (${request.purpose})`);
      return recorded?.answer ?? { kind: 'closed', message: message() };
    });
  }

  /** Resolves when what the agent asked for and did not wait for was answered. */
  async end(): Promise<void> {
    await this.#turns.take(() => {}).catch(() => {});
  }

  giveUp(reason: GiveUpReason, message: string): void {
    this.givenUp ??= { reason, message };
    this.#ending ??= { reason, message, finalAnswer: null };
  }

  note(): void {
    this.#replay.note();
  }

  /** What an agent is told that goes on behind the last record. */
  #afterEnd(what: string): string {
    const { end } = this.#options;
    if (end === null) throw new TraceExhausted('the trace ends here');
    if (closings.has(end.reason)) return end.message;
    throw new ReplayDiverged(`The trace has ended (${end.reason}); the agent went on with ${what}.`);
  }

  #closed(message: string): StepResult {
    return {
      step: this.#last?.step ?? 0,
      status: 'closed',
      observation: `The environment has shut down: ${message}`,
      exitCode: null,
      durationMs: 0,
      budget: this.#last?.budget ?? this.budget,
      submission: this.#last?.submission ?? noSubmission,
      ended: true,
    };
  }
}
