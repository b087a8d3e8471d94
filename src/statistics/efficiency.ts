import {
  type BranchId,
  type Efficiency,
  type EventOf,
  type ModelUse,
  secondsUsedAfter,
  type TokenSums,
  type TraceEvent,
  toolPurpose,
} from '../schema/index.ts';
import { isExecution } from './executions.ts';

type ModelCall = EventOf<'model_call'>;

/** A person's time, which counts in no budget. */
const personAction = 'Request Help';
const millisecond = 1e-3;

/**
 * What a run used, from its trace.
 * @param gpu whether its commands had one
 */
export function efficiencyOf(events: Iterable<TraceEvent>, gpu: boolean): Efficiency {
  const sums = new EfficiencySums(gpu);
  for (const event of events) sums.add(event);
  return sums.efficiency();
}

/** Adds up what a run used, event by event. Definitions: docs/evaluation.md, Efficiency. */
export class EfficiencySums {
  readonly #gpu: boolean;
  readonly #tokens = { agent: noTokens(), tools: noTokens() };
  /** In milliseconds. */
  readonly #times = { model: 0, execution: 0, overhead: 0, waiting: 0, gpu: 0 };
  #money: number | null = 0;
  readonly #models = new Map<string, ModelUse>();
  #wallSeconds = 0;
  #cpuSeconds: number | null = null;
  #peakMemoryBytes: number | null = null;
  /** The current steps, one per branch: their action, and the calls inside in milliseconds. */
  readonly #open = new Map<BranchId, { action: string; model: number; waiting: number }>();

  constructor(gpu: boolean) {
    this.#gpu = gpu;
  }

  add(event: TraceEvent): void {
    this.#wallSeconds = secondsUsedAfter(event, this.#wallSeconds);
    switch (event.kind) {
      case 'model_call':
        this.#addCall(event);
        return;
      case 'step_started':
        this.#open.set(event.branch ?? 'main', { action: event.action, model: 0, waiting: 0 });
        return;
      case 'step_finished':
        this.#addStep(event);
        return;
    }
  }

  efficiency(): Efficiency {
    const { model, execution, overhead, waiting, gpu } = this.#times;
    return {
      tokens: this.#tokens,
      money: this.#money,
      ...(this.#models.size === 0 ? {} : { models: [...this.#models.values()] }),
      seconds: {
        wall: this.#wallSeconds,
        model: model * millisecond,
        execution: execution * millisecond,
        overhead: overhead * millisecond,
        waiting: waiting * millisecond,
      },
      cpu_seconds: this.#cpuSeconds,
      gpu_seconds: this.#gpu ? gpu * millisecond : null,
      peak_memory_bytes: this.#peakMemoryBytes,
    };
  }

  #addCall(call: ModelCall): void {
    // Tools wait for their model inside a script: that is the script's time.
    const waiting = call.purpose === toolPurpose ? 0 : call.waiting_ms;
    this.#times.waiting += waiting;
    if (call.step === null) {
      this.#times.model += call.latency_ms;
    } else {
      const step = this.#open.get(call.branch ?? 'main');
      if (step !== undefined) {
        step.model += call.latency_ms;
        step.waiting += waiting;
      }
    }
    const sums = call.step === null ? this.#tokens.agent : this.#tokens.tools;
    // Failed calls may cost money all the same.
    if (call.answer !== null) sums.calls += 1;
    sums.prompt += call.usage.input;
    sums.cached += call.usage.cached_input;
    sums.completion += call.usage.output;
    sums.reasoning += call.usage.reasoning;
    if (call.usage.source === 'estimate') sums.estimated += call.usage.input + call.usage.output;
    this.#money = this.#money === null || call.cost === null ? null : this.#money + call.cost;
    this.#models.set(call.model, addUse(this.#models.get(call.model), call));
  }

  #addStep(step: EventOf<'step_finished'>): void {
    const { duration_ms: duration, cpu_seconds: cpu, peak_memory_bytes: peak } = step;
    const { action, model: asked, waiting } = this.#open.get(step.branch ?? 'main') ?? notBegun;
    // Tools of a script may call concurrently: together they take no longer than the script.
    const model = Math.min(asked, duration);
    this.#times.model += model;
    if (action !== personAction) this.#times.execution += Math.max(0, duration - model - waiting);
    if (isExecution(action)) this.#times.gpu += duration;
    this.#times.overhead += step.overhead_ms;
    if (cpu !== undefined) this.#cpuSeconds = (this.#cpuSeconds ?? 0) + cpu;
    if (peak !== undefined) this.#peakMemoryBytes = Math.max(this.#peakMemoryBytes ?? 0, peak);
  }
}

/** The same sums as those of all models together. */
function addUse(sum: ModelUse | undefined, { model, answer, usage, cost }: ModelCall): ModelUse {
  const { calls, tokens, money, estimated = 0 } = sum ?? { calls: 0, tokens: 0, money: 0 };
  const used = usage.input + usage.output;
  const guessed = estimated + (usage.source === 'estimate' ? used : 0);
  return {
    model,
    calls: calls + (answer === null ? 0 : 1),
    tokens: tokens + used,
    ...(guessed === 0 ? {} : { estimated: guessed }),
    money: money === null || cost === null ? null : money + cost,
  };
}

const notBegun = { action: '', model: 0, waiting: 0 };

function noTokens(): TokenSums {
  return { calls: 0, prompt: 0, cached: 0, completion: 0, reasoning: 0, estimated: 0 };
}
