import { formatLogToString } from '@langchain/classic/agents/format_scratchpad/log';
import type { AgentAction, AgentFinish, AgentStep } from '@langchain/core/agents';
import { OutputParserException } from '@langchain/core/output_parsers';
import { Runnable, type RunnableConfig } from '@langchain/core/runnables';
import type { Environment } from '../../environment/index.ts';
import { cutMiddle } from '../common/dialogue/index.ts';
import { leftOut } from './prompts.ts';
import { ContextTooLong, RunOver } from './run-over.ts';

const fewestCharacters = 500;

/** Prompt, model and parser in one. */
export type Chain = Runnable<{ agent_scratchpad: string }, AgentAction | AgentFinish>;

export interface PlannerSettings {
  /** The most steps in the scratchpad. */
  steps: number;
  /** The number of unreadable replies in a row that are allowed. */
  invalidReplies: number;
}

/**
 * Decides on the next action. It sends fewer steps if the model can't read all of them, and gives up after too many
 * unreadable replies.
 */
export class Planner extends Runnable<{ steps: AgentStep[] }, AgentAction | AgentFinish> {
  override lc_namespace = ['mlagentbench', 'agents', 'langchain'];
  readonly #chain: Chain;
  readonly #environment: Environment;
  readonly #maxInvalid: number;
  #maxSteps: number;
  #characters = Number.POSITIVE_INFINITY;
  #invalid = 0;

  constructor(chain: Chain, environment: Environment, { steps, invalidReplies }: PlannerSettings) {
    super();
    this.#chain = chain;
    this.#environment = environment;
    this.#maxSteps = steps;
    this.#maxInvalid = invalidReplies;
  }

  /** @throws OutputParserException, which the executor reports to the model; RunOver */
  override async invoke({ steps }: { steps: AgentStep[] }, config?: Partial<RunnableConfig>) {
    for (;;) {
      try {
        const action = await this.#chain.invoke({ agent_scratchpad: this.#scratchpad(steps) }, config);
        this.#invalid = 0;
        return action;
      } catch (error) {
        if (error instanceof OutputParserException) this.#countInvalid();
        if (!(error instanceof ContextTooLong)) throw error;
        if (this.#shrink(steps.length)) continue;
        this.#environment.giveUp('context_limit', error.message);
        throw new RunOver(error.message);
      }
    }
  }

  #scratchpad(steps: AgentStep[]): string {
    const kept = steps
      .slice(-this.#maxSteps)
      .map(({ action, observation }) => ({ action, observation: cutMiddle(observation, this.#characters) }));
    const left = steps.length - kept.length;
    return `${left > 0 ? leftOut(left) : ''}${formatLogToString(kept, 'Observation: ', '')}`;
  }

  #countInvalid(): void {
    this.#invalid += 1;
    if (this.#invalid < this.#maxInvalid) return;
    const message = `No action could be read from ${this.#invalid} replies in a row.`;
    this.#environment.giveUp('reply_format', message);
    throw new RunOver(message);
  }

  /** Halves the number of steps, and finally shortens each. Returns false if there is nothing left to leave out. */
  #shrink(steps: number): boolean {
    const shown = Math.min(steps, this.#maxSteps);
    if (shown > 1) {
      this.#maxSteps = Math.floor(shown / 2);
      return true;
    }
    if (shown === 0 || this.#characters <= fewestCharacters) return false;
    this.#characters = Math.max(fewestCharacters, Math.floor(Math.min(this.#characters, 8000) / 2));
    return true;
  }
}
