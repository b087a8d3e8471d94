import type { CallRecord } from '../models/index.ts';
import type { EventOf, ModelRequest, Spent } from '../schema/index.ts';
import { addCall, ConversationRecorder, type TraceWriter } from '../store/index.ts';
import { RequestTexts } from './request-texts.ts';

/** Appends the model calls of a run to its trace, one event each, and adds up what they came to. */
export class CallRecorder {
  readonly #trace: TraceWriter;
  readonly #conversations = new ConversationRecorder();
  readonly #texts = new RequestTexts();
  #calls: number;
  #spent: Spent;

  /** @param before what earlier sessions recorded */
  constructor(trace: TraceWriter, before: { calls: number; spent: Spent }) {
    this.#trace = trace;
    this.#calls = before.calls;
    this.#spent = before.spent;
  }

  /** What the calls of all sessions came to. */
  get spent(): Spent {
    return this.#spent;
  }

  /** @param step the step whose action asks; null where the agent itself does */
  record(call: CallRecord, step: number | null): EventOf<'model_call'> {
    const { request, settings, answer, failure } = call;
    const { role, purpose, tools, stop } = request;
    const thread = threadOf(request);
    const { texts, hash } = this.#texts.of(request, thread);
    this.#calls += 1;
    const event: EventOf<'model_call'> = {
      kind: 'model_call',
      call: this.#calls,
      ...{ step, role, purpose, ...settings },
      answered_by: call.answeredBy,
      request: hash,
      messages: this.#conversations.record(thread, this.#calls, texts, (text) => this.#trace.textRef(text)),
      tools: tools === undefined || tools.length === 0 ? null : this.#trace.textRef(JSON.stringify(tools)),
      stop: stop ?? [],
      answer: answer === null ? null : this.#trace.textRef(JSON.stringify(answer)),
      failure,
      ...{ usage: call.usage, cost: call.cost },
      latency_ms: rounded(call.latencyMs),
      waiting_ms: rounded(call.waitingMs),
      attempts: [...call.attempts],
    };
    this.#spent = addCall(this.#spent, event);
    this.#trace.append(event);
    return event;
  }

  /** Notes a call that the trace has, and that a resumed run repeats. */
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
