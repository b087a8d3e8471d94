import type { CallProgress, CallRecord, GatewayReply, ModelGateway } from '../models/index.ts';
import type { Limits, ModelRequest, Spent } from '../schema/index.ts';
import type { BudgetClock } from './budget-clock.ts';
import type { CallRecorder, ModelCaller, StepOfBranch } from './call-recorder.ts';
import { type Ending, timeUp } from './ending.ts';
import type { ModelReply } from './environment.ts';
import type { RecordedCall } from './recorded-run.ts';
import type { Replay } from './replay.ts';
import type { StepProgress } from './step-progress.ts';
import type { Waited } from './waiting-time.ts';

/** The language models of a run. */
export interface RunModels {
  gateway: ModelGateway;
  /** What earlier sessions of the run used. */
  spentBefore: Spent;
}

/** The limits of the whole experiment allow no further call: no failure of this run's agent. */
export class ExperimentQuotaUsed extends Error {
  override readonly name = 'ExperimentSpent';
}

export interface ModelAccessOptions {
  /** Absent: the run has no language model. */
  gateway: ModelGateway | undefined;
  recorder: CallRecorder;
  clock: BudgetClock;
  limits: Limits;
  signal: AbortSignal;
  replay: Replay;
  /** Called when a limit allows no further call. */
  onEnd: (ending: Ending) => void;
  onProgress: ((progress: StepProgress) => void) | undefined;
}

/**
 * A run's access to the model gateway: answers recorded calls from the trace and records new ones; waiting stops the
 * run's clock.
 */
export class ModelAccess {
  readonly #options: ModelAccessOptions;

  constructor(options: ModelAccessOptions) {
    this.#options = options;
  }

  /**
   * Answers a call of the agent. A call beyond a limit ends the run.
   * @param request a normal one, see `normalRequest`
   * @param recorded called when the answer is in the trace
   * @param waited called for a wait, which does not count as the run's time
   * @throws ModelUnavailable, ExperimentSpent; the signal's reason if it is aborted
   */
  async answer(
    request: ModelRequest,
    asked: number,
    recorded: () => void,
    waited: Waited,
  ): Promise<ModelReply> {
    const reply = await this.#ask(request, { step: null, asked, recorded }, () => null, waited);
    return this.#replyOf(reply);
  }

  /**
   * Like `answer`, for an action. If an unfinished step of an earlier session got the answer already, it is used again.
   */
  async answerInStep(request: ModelRequest, caller: StepOfBranch, waited: Waited): Promise<ModelReply> {
    const { recorder, replay } = this.#options;
    const find = () => {
      const recorded = replay.askInStep(caller.branch, request);
      if (recorded !== null) recorder.remember(request, recorded.event.call);
      return recorded;
    };
    return this.#replyOf(await this.#ask(request, caller, find, waited));
  }

  /**
   * Answers a call of a tool in a step; failures are the tool's to handle. Waiting counts as the tool's time, as
   * several calls may wait at once.
   * @param request a normal one, see `normalRequest`
   */
  askForTool(request: ModelRequest, caller: StepOfBranch): Promise<GatewayReply | TimeUp> {
    const find = () => this.#options.replay.askInStep(caller.branch, request);
    return this.#ask(request, caller, find, () => {});
  }

  #replyOf(reply: GatewayReply | TimeUp): ModelReply {
    if (reply.kind === 'answered') return reply.answer;
    if (reply.kind === 'unavailable') throw reply.error;
    if (reply.kind === 'over_quota' && reply.quota === 'shared') throw new ExperimentQuotaUsed(reply.message);
    const ending = reply.kind === 'over_quota' ? quotaUsedUp(reply) : timeUp(this.#options.limits);
    this.#options.onEnd(ending);
    return { kind: 'closed', message: ending.message };
  }

  async #ask(
    request: ModelRequest,
    caller: ModelCaller,
    find: () => RecordedCall | null,
    waited: Waited,
  ): Promise<GatewayReply | TimeUp> {
    const { gateway, clock, signal } = this.#options;
    if (gateway === undefined) throw new Error('this run has no language model');
    using deadline = clock.deadline(signal);
    const answered = clock.startModelCall();
    try {
      return await gateway.ask(request, {
        signal: deadline.signal,
        recorded: () => {
          const recorded = find();
          return recorded === null ? null : answeredBefore(recorded);
        },
        record: (call) => this.#record(call, caller),
        onProgress: (progress) => {
          if (progress.kind !== 'waited') this.#report(progress, request, gateway.roles[request.role].model);
          else if (!clock.pausesForModels) waited(progress.time);
        },
      });
    } catch (error) {
      signal.throwIfAborted();
      if (!deadline.signal.aborted) throw error;
      return { kind: 'time_up', message: timeUp(this.#options.limits).message };
    } finally {
      answered();
    }
  }

  #record(call: CallRecord, caller: ModelCaller): void {
    const { recorder, signal, limits, onProgress } = this.#options;
    const isCut = call.failure?.failure === 'cut_off';
    const message = signal.aborted ? 'The run was stopped.' : timeUp(limits).message;
    const entry: CallRecord = isCut ? { ...call, failure: { failure: 'cut_off', message } } : call;
    const event = recorder.record(entry, caller, this.#options.clock.secondsUsed);
    if (event.answer !== null) caller.recorded?.();
    onProgress?.({ kind: 'model_called', call: event });
  }

  #report(
    progress: Exclude<CallProgress, { kind: 'waited' }>,
    { role, purpose }: ModelRequest,
    model: string,
  ): void {
    const { onProgress } = this.#options;
    if (progress.kind === 'retry') onProgress?.({ kind: 'model_retry', model, attempt: progress.attempt });
    else onProgress?.({ kind: 'model_asked', role, purpose, model });
  }
}

/** The run's time was up before an answer arrived. */
export interface TimeUp {
  kind: 'time_up';
  message: string;
}

function quotaUsedUp({ exceeded, message }: Extract<GatewayReply, { kind: 'over_quota' }>): Ending {
  const reason = exceeded === 'tokens' ? 'token_limit' : 'money_limit';
  return { reason, message, finalAnswer: null };
}

function answeredBefore({ event, answer }: RecordedCall): Extract<GatewayReply, { kind: 'answered' }> {
  const { answered_by: answeredBy, latency_ms: latencyMs, usage, cost } = event;
  return { kind: 'answered', answer, answeredBy, latencyMs, usage, cost };
}
