import type { AskForProcess } from '../models/index.ts';
import type { ModelRequest } from '../schema/index.ts';
import { ExperimentSpent, type ModelAccess } from './model-access.ts';
import { normalRequest } from './request-hash.ts';

/** What a tool is answered; `closed`: nothing may be asked now. */
export type ToolReply = Awaited<ReturnType<AskForProcess>>;

type AskForStep = (request: ModelRequest) => ReturnType<ModelAccess['answerTool']>;

const between: ToolReply = { kind: 'closed', message: 'Nothing that was started by an action is running.' };

/** Lets tools that a step runs ask the run's model, as long as the step is under way. */
export class ToolAccess {
  readonly #ask: AskForStep;
  readonly #onFailure: (error: unknown) => void;
  readonly #underWay = new Set<Promise<unknown>>();
  #isOpen = false;

  /**
   * @param ask asks for the step under way
   * @param onFailure told of what the step, and the run, can't go on from
   */
  constructor(ask: AskForStep, onFailure: (error: unknown) => void) {
    this.#ask = ask;
    this.#onFailure = onFailure;
  }

  /** Runs a step's work. All that is asked meanwhile is answered, and recorded, before the step ends. */
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

  /** What stands in the tool's way is told to it and does not end the run; what stands in everybody's way does. */
  async #answer(request: ModelRequest): Promise<ToolReply> {
    try {
      const reply = await this.#ask(request);
      if (reply.kind === 'time_up') return { kind: 'closed', message: reply.message };
      if (reply.kind === 'over_quota' && reply.quota === 'shared')
        this.#onFailure(new ExperimentSpent(reply.message));
      // It is the tool that asked for what the model does not take.
      if (reply.kind === 'unavailable' && reply.error.failure !== 'bad_request') this.#onFailure(reply.error);
      return reply;
    } catch (error) {
      this.#onFailure(error);
      return { kind: 'closed', message: 'The run is over.' };
    }
  }
}
