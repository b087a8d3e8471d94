import type { Environment } from '../../environment/index.ts';
import type { ModelMessage } from '../../schema/index.ts';
import type { Taken } from '../common/careful-steps.ts';
import { cutMiddle } from '../common/dialogue/index.ts';
import { memoryPrompt, resultText, summaryPrompt } from './prompts.ts';

const fewestCharacters = 250;
/** The limit of a summary that no model wrote. */
const maxPlainCharacters = 4000;

export interface MemorySettings {
  /** The number of steps that are kept in full. */
  steps: number;
  /** The limit of each result. */
  characters: number;
  /** The limit of the summary. */
  words: number;
}

interface Remembered {
  reply: string;
  action: string;
  result: Taken;
}

/** The latest steps in full, and a running summary of all earlier steps, which the fast model writes. */
export class Memory {
  readonly #environment: Environment;
  readonly #words: number;
  #maxSteps: number;
  #characters: number;
  #steps: Remembered[] = [];
  #summary = '';

  constructor(environment: Environment, { steps, characters, words }: MemorySettings) {
    this.#environment = environment;
    this.#maxSteps = steps;
    this.#characters = characters;
    this.#words = words;
  }

  messages(): ModelMessage[] {
    const summary: ModelMessage[] =
      this.#summary === '' ? [] : [{ role: 'user', text: memoryPrompt(this.#summary) }];
    const steps = this.#steps.flatMap((step): ModelMessage[] => [
      { role: 'assistant', text: step.reply },
      { role: 'user', text: this.#textOf(step) },
    ]);
    return [...summary, ...steps];
  }

  add(reply: string, action: string, result: Taken): void {
    this.#steps.push({ reply, action, result });
  }

  /** Adds steps that are no longer kept in full to the summary. Returns false if the run ended meanwhile. */
  async settle(): Promise<boolean> {
    while (this.#steps.length > this.#maxSteps) {
      const [oldest, ...rest] = this.#steps;
      if (oldest === undefined) break;
      const summary = await this.#summarise(oldest);
      if (summary === null) return false;
      this.#summary = summary;
      this.#steps = rest;
    }
    return true;
  }

  /** Sends half as much from now on. Returns false if there is nothing left to leave out. */
  shrink(): boolean {
    const { length } = this.#steps;
    const steps = Math.max(1, Math.floor(Math.min(this.#maxSteps, length) / 2));
    const characters = Math.max(fewestCharacters, Math.floor(this.#characters / 2));
    const isLess = steps < length || characters < this.#characters;
    this.#maxSteps = steps;
    this.#characters = characters;
    return isLess && length > 0;
  }

  /** Null: the run ended. If the model gives no summary, the step is kept as a line. */
  async #summarise(step: Remembered): Promise<string | null> {
    const event = `${cutMiddle(step.reply, this.#characters)}\n\n${this.#textOf(step)}`;
    const reply = await this.#environment.ask({
      role: 'fast',
      purpose: 'summarise a step',
      messages: [{ role: 'user', text: summaryPrompt(this.#summary, event, this.#words) }],
    });
    if (reply.kind === 'closed') return null;
    const text = reply.kind === 'answered' ? reply.text.trim() : '';
    if (text !== '') return text;
    return `${this.#summary}\n- ${step.action} ended as ${step.result.status}.`
      .slice(-maxPlainCharacters)
      .trim();
  }

  #textOf({ action, result }: Remembered): string {
    return resultText(action, result, this.#characters);
  }
}
