import type { GatewayReply } from '../models/index.ts';
import type { ModelRequest, ToolReply } from '../schema/index.ts';
import { ExperimentSpent, type ModelAccess, type TimeUp } from './model-access.ts';
import { normalRequest } from './request-hash.ts';

const between: ToolReply = { kind: 'closed', message: 'Nothing that was started by an action is running.' };

/** Lets tools that a step runs ask the run's model, as long as the step is under way. */
export class ToolAccess {
  readonly #models: ModelAccess;
  readonly #onFailure: (error: unknown) => void;
  readonly #underWay = new Set<Promise<unknown>>();
  #step: number | null = null;

  /** @param onFailure told of what the step, and the run, can't go on from */
  constructor(models: ModelAccess, onFailure: (error: unknown) => void) {
    this.#models = models;
    this.#onFailure = onFailure;
  }

  /** Runs a step's work. All that is asked meanwhile is answered, and recorded, before the step ends. */
  async during<Result>(step: number, work: () => Promise<Result>): Promise<Result> {
    this.#step = step;
    try {
      return await work();
    } finally {
      this.#step = null;
      await Promise.allSettled(this.#underWay);
    }
  }

  async answer(request: ModelRequest): Promise<ToolReply> {
    if (this.#step === null) return between;
    const answering = this.#answer(normalRequest(request), this.#step);
    this.#underWay.add(answering);
    try {
      return await answering;
    } finally {
      this.#underWay.delete(answering);
    }
  }

  async #answer(request: ModelRequest, step: number): Promise<ToolReply> {
    try {
      return this.#told(await this.#models.answerTool(request, step));
    } catch (error) {
      this.#onFailure(error);
      return { kind: 'closed', message: 'The run is over.' };
    }
  }

  /** What stands in the tool's way is told to it and does not end the run; what stands in everybody's way does. */
  #told(reply: GatewayReply | TimeUp): ToolReply {
    switch (reply.kind) {
      case 'answered': {
        const { answer, usage, cost } = reply;
        return { kind: 'answer', answer, usage, cost };
      }
      case 'time_up':
        return { kind: 'closed', message: reply.message };
      case 'over_quota':
        if (reply.quota === 'shared') this.#onFailure(new ExperimentSpent(reply.message));
        return { kind: 'over_budget', message: reply.message };
      case 'unavailable': {
        const { error } = reply;
        // It is the tool that asked for what can't be answered.
        if (error.failure === 'bad_request') return { kind: 'bad_request', message: error.message };
        this.#onFailure(error);
        return { kind: 'unavailable', message: error.message };
      }
    }
  }
}
