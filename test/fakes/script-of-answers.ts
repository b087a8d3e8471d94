import type { AskOptions, LanguageModels, ModelCall } from '../../src/models/index.ts';
import type { ModelAnswer, ModelRequest, RoleSettings } from '../../src/schema/index.ts';

/** A text is a whole answer; an error is thrown. */
export type ScriptedAnswer = string | ModelAnswer | Error;

const settings: RoleSettings = { model: 'scripted/answers', temperature: null, max_output_tokens: 4000 };

/** Language models that answer what a test lays down, and keep what they were asked. */
export class ScriptOfAnswers implements LanguageModels {
  readonly roles = { agent: settings, editor: settings, fast: settings };
  readonly requests: ModelRequest[] = [];
  readonly #answer: (request: ModelRequest, index: number) => ScriptedAnswer | undefined;

  constructor(
    answers: readonly ScriptedAnswer[] | ((request: ModelRequest, index: number) => ScriptedAnswer),
  ) {
    this.#answer = typeof answers === 'function' ? answers : (_, index) => answers[index];
  }

  estimate() {
    return { tokens: 0, money: 0 };
  }

  async ask(request: ModelRequest, _options: AskOptions): Promise<ModelCall> {
    const answer = this.#answer(request, this.requests.length);
    this.requests.push(request);
    if (answer === undefined) throw new Error(`nothing is laid down for call ${this.requests.length}`);
    if (answer instanceof Error) throw answer;
    return {
      answer: typeof answer === 'string' ? answered(answer) : answer,
      answeredBy: null,
      usage: { input: 10, cached_input: 0, cache_write: 0, output: 5, reasoning: 0, source: 'estimate' },
      cost: 0,
      latencyMs: 1,
      waitingMs: 0,
      attempts: [],
    };
  }
}

export function answered(text: string, finish: 'stop' | 'length' = 'stop'): ModelAnswer {
  return { kind: 'answered', text, tool_calls: [], finish };
}

/** What a request shows the model, as one text. */
export function textOf(request: ModelRequest | undefined): string {
  return request?.messages.map(({ text }) => text).join('\n') ?? '';
}
