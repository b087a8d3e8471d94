import { UserError } from '../../lib/errors.ts';
import type { AgentOptions } from '../../schema/index.ts';
import type { Agent } from '../agent.ts';
import { wholeNumberOption } from '../common/options.ts';

/** Loads the code that needs the packages when the agent runs, because they are optional and slow to load. */
type Load = () => Promise<typeof import('./react-executor.ts')>;

/** A zero-shot ReAct agent on LangChain.js: its executor, prompts, tools and messages over the run's own actions. */
export function langchainAgent(load: Load): Agent {
  const agent: Agent = {
    name: 'langchain',
    summary: 'A ReAct agent on LangChain.js; needs @langchain/core and @langchain/classic.',
    needs: { model: true, reference: false },
    usesExperience: true,
    options: {
      steps_in_context: { description: 'latest steps that the scratchpad holds at most', default: 50 },
      invalid_replies: {
        description: 'replies in a row without a readable action before the run is given up',
        default: 5,
      },
    },
    async ready(options) {
      settingsOf(options);
      await loaded(load);
    },
    async run({ environment, options, experience }) {
      const { runReAct } = await loaded(load);
      await runReAct(environment, settingsOf(options), experience);
    },
  };
  const settingsOf = (options: AgentOptions) => ({
    steps: wholeNumberOption(agent, options, 'steps_in_context', 1),
    invalidReplies: wholeNumberOption(agent, options, 'invalid_replies', 1),
  });
  return agent;
}

export const langchain = langchainAgent(() => import('./react-executor.ts'));

async function loaded(load: Load): ReturnType<Load> {
  try {
    return await load();
  } catch (error) {
    const missing =
      error instanceof Error
        ? /Cannot find (?:package|module) '(@langchain\/[^/']+)/.exec(error.message)
        : null;
    if (missing === null) throw error;
    throw new UserError(
      'langchain_missing',
      `the agent "langchain" needs the package ${missing[1]}, which is not installed`,
      'Install it beside mlab: npm install @langchain/core@^1.4.0 @langchain/classic@^1.0.43',
      { cause: error },
    );
  }
}
