import { agentByName } from '../../src/agents/index.ts';
import { FakeEnvironment } from '../../src/api/testing.ts';
import type { AgentOptions, ModelRequest } from '../../src/schema/index.ts';
import { describedActions } from '../../test/fixtures/described-actions.ts';
import { hashed } from '../draws.ts';
import { type ModelName, SimulatedModel } from './models.ts';
import type { Problem } from './problem.ts';

export interface SearchWanted {
  problem: Problem;
  model: ModelName;
  options: AgentOptions;
  /** In run times of the starter. */
  budget: number;
  seed: number;
}

/** What one search reached, and used up. */
export interface SearchResult {
  regret: number;
  /** Shares of the limits of the run. */
  tokens: number;
  environment: FakeEnvironment;
}

/** Per run time of the starter. */
const limits = { tokens: 10_000, steps: 10 };
const replySeconds = 15;
const charactersPerToken = 4;

/** Runs the whole agent, with a clock that only scripts and replies advance, and scores what it submits without noise. */
export async function simulatedSearch({
  problem,
  model,
  options,
  budget,
  seed,
}: SearchWanted): Promise<SearchResult> {
  const simulated = new SimulatedModel(problem, model, hashed(`${model} ${problem.wanted.seed} ${seed}`));
  let tokens = 0;
  const environment = new FakeEnvironment({
    files: { 'train.py': problem.starter },
    actions: describedActions,
    steps: limits.steps * budget,
    seconds: problem.wanted.seconds * budget,
    tokens: limits.tokens * budget,
    execute: (source) => problem.run(source, `${seed}`),
    replies: (request) => ({ text: simulated.reply(request) }),
    use(request, answer) {
      const used = Math.ceil(sizeOf(request, answer) / charactersPerToken);
      tokens += used;
      return { tokens: used, seconds: replySeconds };
    },
  });
  const all = { portfolio: false, ...options };
  await agentByName('tree').run({ environment, seed, options: all, reference: null });
  const submission = environment.selected.files.get('submission.csv') ?? problem.starter;
  return { regret: problem.regretOf(submission), tokens: tokens / (limits.tokens * budget), environment };
}

function sizeOf({ messages, tools = [] }: ModelRequest, answer: object): number {
  const texts = messages.map(({ text }) => text.length);
  return texts.reduce(
    (sum, length) => sum + length,
    JSON.stringify(tools).length + JSON.stringify(answer).length,
  );
}
