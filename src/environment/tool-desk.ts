import { ModelUnavailable } from '../models/index.ts';
import type { ModelRequest, ToolReply } from '../schema/index.ts';
import { ExperimentSpent, type ModelDesk } from './model-desk.ts';

const between: ToolReply = { kind: 'closed', message: 'Nothing that was started by an action is running.' };

/** Lets tools that a step runs ask the run's model, as long as the step is under way. */
export class ToolDesk {
  readonly #desk: ModelDesk;
  readonly #onFailure: (error: unknown) => void;
  readonly #underWay = new Set<Promise<unknown>>();
  #step: number | null = null;

  /** @param onFailure told of what the step, and the run, can't go on from */
  constructor(desk: ModelDesk, onFailure: (error: unknown) => void) {
    this.#desk = desk;
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
    const answering = this.#answer(request, this.#step);
    this.#underWay.add(answering);
    try {
      return await answering;
    } finally {
      this.#underWay.delete(answering);
    }
  }

  async #answer(request: ModelRequest, step: number): Promise<ToolReply> {
    try {
      return await this.#desk.answerTool(request, step);
    } catch (error) {
      this.#onFailure(error);
      if (error instanceof ExperimentSpent) return { kind: 'over_budget', message: error.message };
      if (ModelUnavailable.isInstance(error)) return { kind: 'unavailable', message: error.message };
      return { kind: 'closed', message: 'The run is over.' };
    }
  }
}
