import { type CallRecord, jsonPieces } from '../models/index.ts';
import type { BranchId, EventOf, ModelRequest, Spent, TextRef } from '../schema/index.ts';
import { addCall, ConversationRecorder, type TraceWriter } from '../store/index.ts';
import { RequestTexts } from './request-texts.ts';
import { toolsText } from './shared-tools.ts';

/** A step whose action calls a model. */
export interface StepOfBranch {
  branch: BranchId;
  step: number;
}

/** The caller of a model: a step's action, or the agent itself. */
export type ModelCaller = (StepOfBranch | { step: null; asked: number }) & {
  /** Called when the answer is in the trace. */
  recorded?: () => void;
};

/** Appends the model calls of a run to its trace, one event each, and sums up their use. */
export class CallRecorder {
  readonly #trace: TraceWriter;
  readonly #conversations = new ConversationRecorder();
  /** Request bodies of programs grow as their conversations do. */
  readonly #bodies = new ConversationRecorder();
  readonly #texts = new RequestTexts();
  readonly #toolRefs = new WeakMap<object, TextRef>();
  #calls: number;
  /** Answered calls of the agent itself. */
  #answered: number;
  #spent: Spent;

  /** @param before what earlier sessions recorded */
  constructor(trace: TraceWriter, before: { calls: number; answered: number; spent: Spent }) {
    this.#trace = trace;
    this.#calls = before.calls;
    this.#answered = before.answered;
    this.#spent = before.spent;
  }

  /** The use of all sessions' calls together. */
  get spent(): Spent {
    return this.#spent;
  }

  /** @param secondsUsed of the run's budget */
  record(call: CallRecord, caller: ModelCaller, secondsUsed: number): EventOf<'model_call'> {
    const { request, settings, answer, failure } = call;
    const { role, purpose, tools, stop } = request;
    const thread = threadOf(request);
    const { texts, hash } = this.#texts.of(request, thread);
    this.#calls += 1;
    const event: EventOf<'model_call'> = {
      kind: 'model_call',
      call: this.#calls,
      ...this.#askedBy(caller, answer !== null, secondsUsed),
      ...{ role, purpose, ...settings },
      answered_by: call.answeredBy,
      request: hash,
      messages: this.#conversations.record(thread, this.#calls, texts, (text) => this.#trace.textRef(text)),
      tools: tools === undefined || tools.length === 0 ? null : this.#toolsRef(tools),
      stop: stop ?? [],
      answer: answer === null ? null : this.#trace.textRef(JSON.stringify(answer)),
      failure,
      ...{ usage: call.usage, cost: call.cost },
      latency_ms: rounded(call.latencyMs),
      waiting_ms: rounded(call.waitingMs),
      attempts: [...call.attempts],
      ...this.#wireOf(call, thread),
    };
    this.#spent = addCall(this.#spent, event);
    this.#trace.append(event);
    return event;
  }

  /** The tools of one conversation are usually the same. */
  #toolsRef(tools: NonNullable<ModelRequest['tools']>): TextRef {
    const ref = this.#toolRefs.get(tools) ?? this.#trace.textRef(toolsText(tools));
    this.#toolRefs.set(tools, ref);
    return ref;
  }

  #wireOf({ wire }: CallRecord, thread: string): Pick<EventOf<'model_call'>, 'wire'> {
    if (wire === undefined) return {};
    const textRef = (text: string) => this.#trace.textRef(text);
    const request = this.#bodies.record(thread, this.#calls, jsonPieces(wire.request), textRef);
    return { wire: { ...wire, request, response: textRef(wire.response) } };
  }

  #askedBy(
    caller: ModelCaller,
    isAnswered: boolean,
    secondsUsed: number,
  ): Pick<EventOf<'model_call'>, 'step' | 'branch' | 'asked' | 'seconds_used'> {
    const { step } = caller;
    if (step !== null) return caller.branch === 'main' ? { step } : { branch: caller.branch, step };
    const inOrder = this.#answered + 1;
    if (isAnswered) this.#answered += 1;
    return {
      step,
      ...(isAnswered && caller.asked !== inOrder ? { asked: caller.asked } : {}),
      seconds_used: rounded(secondsUsed),
    };
  }

  /** Notes a call that is in the trace, and that a resumed run repeats. */
  remember(request: ModelRequest, call: number): void {
    const thread = threadOf(request);
    this.#conversations.remember(thread, call, this.#texts.of(request, thread).texts);
  }
}

/** Calls of the same role for the same purpose usually continue each other. */
function threadOf({ role, purpose }: ModelRequest): string {
  return `${role} ${purpose}`;
}

function rounded(milliseconds: number): number {
  return Math.max(0, Math.round(milliseconds * 1000) / 1000);
}
