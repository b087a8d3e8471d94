import type { Environment } from '../../environment/index.ts';
import { cutMiddle, type PastStep, showReply } from '../common/dialogue/index.ts';
import { recallPrompt, stepSummaryPrompt } from './prompts.ts';

/** The agent's long-term memory: a record of each step, and a selection of what matters now. */
export interface ResearchLog {
  /** What matters for the plan; null if nothing was returned. */
  recall(plan: string): Promise<string | null>;
  /** @param number of the step in the history, counted from 0 */
  record(number: number, step: PastStep): Promise<void>;
}

/** The most characters of the log that are shown to the fast model: the newest ones. */
const maxLog = 60_000;
/** For when the log is too long for the model, or the model returns nothing. */
const shortLog = 8_000;
const shortStep = 600;

const firstMark = '[Reasoning]:';
/** The most summaries of one step that the paper's agent requests, until one is in the right form. */
const maxSummaries = 5;

/** The agent keeps this log itself, so it costs no steps. */
export class OwnLog implements ResearchLog {
  readonly #environment: Environment;
  #text = '';

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  async recall(plan: string): Promise<string | null> {
    for (const most of [maxLog, shortLog]) {
      const log = this.#text.slice(-most);
      const answer = await this.#environment.ask({
        role: 'fast',
        purpose: 'recall from the log',
        messages: [
          { role: 'user', text: recallPrompt(this.#environment.task.problem, plan, log).toWellFormed() },
        ],
      });
      if (answer.kind === 'answered' && answer.text.trim() !== '') return answer.text.trim();
      if (answer.kind !== 'context_too_long') break;
    }
    return this.#text === '' ? null : this.#text.slice(-shortLog).toWellFormed();
  }

  async record(number: number, step: PastStep): Promise<void> {
    // A reply that could not be read says nothing about the problem.
    if (step.isMalformed) return;
    const summary = await summarise(this.#environment, step);
    this.#text += logEntry(number, summary ?? unsummarised(step));
  }
}

/** This log is kept by the actions for it, as in the paper: each use is a step, and retrieval does not get the plan. */
export class LogOfActions implements ResearchLog {
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  async recall(): Promise<string | null> {
    const args = { current_plan: '' };
    const action = { name: 'Retrieval from Research Log', args };
    const { status, observation } = await this.#environment.step(action);
    return status === 'ok' ? observation : null;
  }

  async record(number: number, step: PastStep): Promise<void> {
    const content = logEntry(number, (await this.#summarise(step)) ?? unsummarised(step));
    await this.#environment.step({ name: 'Append Summary to Research Log', args: { content } });
  }

  /** Requests a summary until it has the first of its markers, and drops the text before that marker. */
  async #summarise(step: PastStep): Promise<string | null> {
    for (let attempt = 0; attempt < maxSummaries; attempt += 1) {
      const summary = await summarise(this.#environment, step);
      const start = summary?.indexOf(firstMark) ?? -1;
      if (start >= 0) return summary?.slice(start) ?? null;
    }
    return null;
  }
}

async function summarise(environment: Environment, step: PastStep): Promise<string | null> {
  const answer = await environment.ask({
    role: 'fast',
    purpose: 'summarise a step',
    messages: [{ role: 'user', text: stepSummaryPrompt(showReply(step), step.observation).toWellFormed() }],
  });
  return answer.kind === 'answered' && answer.text !== '' ? answer.text : null;
}

/** For when the model returned no summary. */
function unsummarised({ action, observation }: PastStep): string {
  return `[Action]: ${action}\n[Observation]: ${cutMiddle(observation, shortStep)}`;
}

function logEntry(number: number, summary: string): string {
  return `\n\nStep ${number}:\n${summary}\n`;
}
