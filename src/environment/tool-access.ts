import type { AskForProcess } from '../models/index.ts';
import type { ModelRequest } from '../schema/index.ts';
import { ExperimentQuotaUsed, type ModelAccess } from './model-access.ts';
import { normalRequest } from './request-hash.ts';

/** The reply to a tool; `closed`: no calls are allowed now. */
export type ToolReply = Awaited<ReturnType<AskForProcess>>;

type AskForStep = (request: ModelRequest) => ReturnType<ModelAccess['askForTool']>;

const between: ToolReply = { kind: 'closed', message: 'Nothing that was started by an action is running.' };

/** Lets tools in a step call the run's model, as long as the step is under way. */
export class ToolAccess {
  readonly #ask: AskForStep;
  readonly #onFailure: (error: unknown) => void;
  readonly #underWay = new Set<Promise<unknown>>();
  #isOpen = false;

  /**
   * @param ask calls the model for the current step
   * @param onFailure called with failures that the step, and the run, can't survive
   */
  constructor(ask: AskForStep, onFailure: (error: unknown) => void) {
    this.#ask = ask;
    this.#onFailure = onFailure;
  }

  /** Runs a step's work. Every call made meanwhile is answered and recorded before the step ends. */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#isOpen = true;
    try {
      return await work();
    } finally {
      this.#isOpen = false;
      await Promise.allSettled(this.#underWay);
    }
  }

  /** Never rejects. */
  async answer(request: ModelRequest): Promise<ToolReply> {
    if (!this.#isOpen) return between;
    const answering = this.#answer(normalRequest(request));
    this.#underWay.add(answering);
    try {
      return await answering;
    } finally {
      this.#underWay.delete(answering);
    }
  }

  /** A failure that concerns only the tool is its reply and does not end the run; a general failure does. */
  async #answer(request: ModelRequest): Promise<ToolReply> {
    try {
      const reply = await this.#ask(request);
      if (reply.kind === 'time_up') return { kind: 'closed', message: reply.message };
      if (reply.kind === 'over_quota' && reply.quota === 'shared')
        this.#onFailure(new ExperimentQuotaUsed(reply.message));
      // A bad request is the tool's own mistake.
      if (reply.kind === 'unavailable' && reply.error.failure !== 'bad_request') this.#onFailure(reply.error);
      return reply;
    } catch (error) {
      this.#onFailure(error);
      return { kind: 'closed', message: 'The run is over.' };
    }
  }
}
