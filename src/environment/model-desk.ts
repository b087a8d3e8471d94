import { messageOf } from '../lib/errors.ts';
import {
  CallCut,
  type CallEstimate,
  type LanguageModels,
  type ModelCall,
  ModelUnavailable,
  type Quota,
  type Reservation,
} from '../models/index.ts';
import type {
  CallCharge,
  EventOf,
  FailedAttempt,
  Limits,
  ModelRequest,
  Spent,
  ToolReply,
} from '../schema/index.ts';
import { addCall, ConversationRecorder, nothingSpent, type TraceWriter } from '../store/index.ts';
import type { BudgetClock } from './budget-clock.ts';
import { type Ending, timeUp } from './ending.ts';
import type { ModelReply } from './environment.ts';
import type { Replay } from './replay.ts';
import { normalRequest, requestHash } from './request-hash.ts';
import { RunStopped } from './run-stopped.ts';
import type { StepProgress } from './step-progress.ts';

/** The language models of a run, and what they may use. */
export interface RunModels {
  models: LanguageModels;
  /** Of this run. */
  quota: Quota;
  /** Of all runs of the experiment together. */
  shared: Quota | null;
  /** What earlier sessions of the run used. */
  spentBefore: Spent;
}

/** The limits of the whole experiment leave no room for another call: nothing that this run did. */
export class ExperimentSpent extends Error {
  override readonly name = 'ExperimentSpent';
}

export interface ModelDeskOptions {
  /** Absent: no language model can be asked. */
  models: RunModels | undefined;
  trace: TraceWriter;
  clock: BudgetClock;
  limits: Limits;
  signal: AbortSignal;
  replay: Replay;
  /** Calls that earlier sessions made. */
  callsBefore: number;
  /** Told when a limit allows no further call. */
  onEnd: (ending: Ending) => void;
  onProgress: ((progress: StepProgress) => void) | undefined;
}

/** Makes the calls of a run: within its limits, one event each; answers what is recorded from the trace. */
export class ModelDesk {
  readonly #options: ModelDeskOptions;
  readonly #conversations = new ConversationRecorder();
  #calls: number;
  #spent: Spent;

  constructor(options: ModelDeskOptions) {
    this.#options = options;
    this.#calls = options.callsBefore;
    this.#spent = options.models?.spentBefore ?? nothingSpent;
  }

  /** What the calls of all sessions came to. */
  get spent(): Spent {
    return this.#spent;
  }

  /**
   * @param request a normal one, see `normalRequest`
   * @param step the step whose action asks; null where the agent itself does
   * @throws ModelUnavailable, ExperimentSpent, ReplayDiverged; RunStopped or the signal's reason
   */
  async answer(request: ModelRequest, step: number | null): Promise<ModelReply> {
    const { models, replay, signal, onProgress } = this.#options;
    const recorded = step === null ? replay.ask(request) : replay.askInStep(request);
    if (recorded !== null) {
      this.#conversations.remember(threadOf(request), recorded.event.call, textsOf(request));
      return recorded.answer;
    }
    if (models === undefined) throw new Error('this run has no language model');
    if (signal.aborted) throw new RunStopped('The run was stopped.');
    const { role, purpose } = request;
    onProgress?.({ kind: 'model_asked', role, purpose, model: models.models.roles[role].model });
    return await this.#ask(request, step, models);
  }

  /**
   * As `answer`, for a tool that a step runs. What stands in its way is told to the tool and does not end the run. Waiting
   * for the provider counts as the tool's time: several calls may wait at once.
   * @throws ModelUnavailable, ExperimentSpent; the signal's reason
   */
  async answerTool(asked: ModelRequest, step: number): Promise<ToolReply> {
    const { models: runModels, replay, limits } = this.#options;
    const request = normalRequest(asked);
    const recorded = replay.askInStep(request);
    if (recorded !== null) {
      const { usage, cost } = recorded.event;
      return { kind: 'answer', answer: recorded.answer, usage, cost };
    }
    if (runModels === undefined) return { kind: 'no_model', message: 'This run has no language model.' };
    const { models, quota, shared } = runModels;
    const estimate = models.estimate(request);
    const own = await quota.reserveWhenFree(estimate, this.#options.signal);
    if (own.kind === 'exceeded') return { kind: 'over_budget', message: own.message };
    const reservations = [own.reservation];
    try {
      if (shared !== null) reservations.push(await this.#reserveShared(shared, estimate, false));
      const call = await this.#call({ request, step, models, reservations }, false);
      if (call === null) return { kind: 'closed', message: timeUp(limits).message };
      return { kind: 'answer', answer: call.answer, usage: call.usage, cost: call.cost };
    } catch (error) {
      // It is the tool that asked for what can't be answered.
      if (!ModelUnavailable.isInstance(error) || error.failure !== 'bad_request') throw error;
      return { kind: 'bad_request', message: error.message };
    } finally {
      for (const reservation of reservations) reservation.release();
    }
  }

  async #ask(request: ModelRequest, step: number | null, runModels: RunModels): Promise<ModelReply> {
    const { models, quota, shared } = runModels;
    const estimate = models.estimate(request);
    const own = quota.reserve(estimate);
    if (own.kind === 'exceeded') {
      const reason = own.exceeded === 'tokens' ? 'token_limit' : 'money_limit';
      return this.#end({ reason, message: own.message, finalAnswer: null });
    }
    const reservations = [own.reservation];
    try {
      if (shared !== null) reservations.push(await this.#reserveShared(shared, estimate));
      const call = await this.#call({ request, step, models, reservations });
      return call === null ? this.#end(timeUp(this.#options.limits)) : call.answer;
    } finally {
      // After it was settled, nothing is left to release.
      for (const reservation of reservations) reservation.release();
    }
  }

  /** Where calls of other runs are in the way, their end is awaited: no time of this run. */
  async #reserveShared(shared: Quota, estimate: CallEstimate, excludes = true): Promise<Reservation> {
    const { clock, signal } = this.#options;
    const start = performance.now();
    const common = await shared.reserveWhenFree(estimate, signal);
    if (excludes) clock.exclude(performance.now() - start);
    if (common.kind === 'exceeded') throw new ExperimentSpent(common.message);
    return common.reservation;
  }

  #end(ending: Ending): ModelReply {
    this.#options.onEnd(ending);
    return { kind: 'closed', message: ending.message };
  }

  /**
   * Makes the call, and records and charges what came of it, also where that is no answer. Null when the run's time was up
   * first.
   * @param excludes whether time spent waiting for the provider is not the run's
   */
  async #call(asked: AskedCall, excludes = true): Promise<ModelCall | null> {
    const { clock, signal, onProgress, trace, limits } = this.#options;
    const start = performance.now();
    let excluded = 0;
    const exclude = (milliseconds: number) => {
      if (!excludes) return;
      excluded += milliseconds;
      clock.exclude(milliseconds);
    };
    const attempts: FailedAttempt[] = [];
    const onRetry = (attempt: FailedAttempt) => {
      attempts.push(attempt);
      exclude(attempt.duration_ms + attempt.waited_ms);
      onProgress?.({ kind: 'model_retry', model: asked.models.roles[asked.request.role].model, attempt });
    };
    using deadline = clock.deadline();
    try {
      const call = await asked.models.ask(asked.request, {
        signal: AbortSignal.any([signal, deadline.signal]),
        onRetry,
        reserve: (most) => asked.reservations.every((reservation) => reservation.raise(most)),
      });
      exclude(call.waitingMs - excluded);
      const answer = trace.textRef(JSON.stringify(call.answer));
      this.#record(asked, call, { ...noAnswer, answered_by: call.answeredBy, answer, ...timesOf(call) });
      return call;
    } catch (error) {
      if (CallCut.isInstance(error)) {
        const message = signal.aborted ? 'The run was stopped.' : timeUp(limits).message;
        const waitingMs = waited(attempts);
        const times = timesOf({ latencyMs: performance.now() - start - waitingMs, waitingMs, attempts });
        this.#record(asked, error.charge, {
          ...noAnswer,
          failure: { failure: 'cut_off', message },
          ...times,
        });
      }
      signal.throwIfAborted();
      if (ModelUnavailable.isInstance(error)) {
        exclude(performance.now() - start - excluded);
        const { failure, message } = error;
        const times = timesOf({ latencyMs: 0, waitingMs: waited(error.attempts), attempts: error.attempts });
        this.#record(asked, error.charge, { ...noAnswer, failure: { failure, message }, ...times });
        throw error;
      }
      if (deadline.signal.aborted) return null;
      throw new Error(`The language model can't be asked: ${messageOf(error)}`, { cause: error });
    }
  }

  #record({ request, step, models, reservations }: AskedCall, charge: CallCharge, outcome: Outcome): void {
    const { trace, onProgress } = this.#options;
    const { role, purpose, tools, stop } = request;
    const { model, temperature, max_output_tokens } = models.roles[role];
    const { usage, cost } = charge;
    for (const reservation of reservations) reservation.settle(charge);
    this.#calls += 1;
    const event: EventOf<'model_call'> = {
      kind: 'model_call',
      call: this.#calls,
      step,
      role,
      purpose,
      model,
      temperature,
      max_output_tokens,
      request: requestHash(request),
      messages: this.#conversations.record(threadOf(request), this.#calls, textsOf(request), (text) =>
        trace.textRef(text),
      ),
      tools: tools === undefined || tools.length === 0 ? null : trace.textRef(JSON.stringify(tools)),
      stop: stop ?? [],
      ...{ usage, cost, ...outcome },
    };
    this.#spent = addCall(this.#spent, event);
    trace.append(event);
    onProgress?.({ kind: 'model_called', call: event });
  }
}

/** A call and what is kept for it. */
interface AskedCall {
  request: ModelRequest;
  /** The step whose action asks; null where the agent itself does. */
  step: number | null;
  models: LanguageModels;
  reservations: readonly Reservation[];
}

type Outcome = Pick<
  EventOf<'model_call'>,
  'answered_by' | 'answer' | 'failure' | 'latency_ms' | 'waiting_ms' | 'attempts'
>;

const noAnswer: Outcome = {
  ...{ answered_by: null, answer: null, failure: null, latency_ms: 0, waiting_ms: 0, attempts: [] },
};

function timesOf({
  latencyMs,
  waitingMs,
  attempts,
}: {
  latencyMs: number;
  waitingMs: number;
  attempts: readonly FailedAttempt[];
}): Pick<Outcome, 'latency_ms' | 'waiting_ms' | 'attempts'> {
  return { latency_ms: rounded(latencyMs), waiting_ms: rounded(waitingMs), attempts: [...attempts] };
}

function waited(attempts: readonly FailedAttempt[]): number {
  return attempts.reduce((sum, { duration_ms, waited_ms }) => sum + duration_ms + waited_ms, 0);
}

/** Calls of the same role for the same purpose usually continue each other. */
function threadOf({ role, purpose }: ModelRequest): string {
  return `${role} ${purpose}`;
}

function textsOf({ messages }: ModelRequest): string[] {
  return messages.map((message) => JSON.stringify(message));
}

function rounded(milliseconds: number): number {
  return Math.max(0, Math.round(milliseconds * 1000) / 1000);
}
