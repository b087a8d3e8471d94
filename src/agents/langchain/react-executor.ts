import { AgentExecutor, RunnableAgent } from '@langchain/classic/agents';
import { BaseCallbackHandler } from '@langchain/core/callbacks/base';
import { ChatPromptTemplate } from '@langchain/core/prompts';
import { DynamicStructuredTool } from '@langchain/core/tools';
import { z } from 'zod';
import type { Environment } from '../../environment/index.ts';
import type { Lesson } from '../../schema/index.ts';
import { CarefulSteps } from '../common/careful-steps.ts';
import { EnvironmentModel } from './environment-model.ts';
import { Planner, type PlannerSettings } from './planner.ts';
import { instructions, observationText, opening } from './prompts.ts';
import { ReplyParser } from './reply-parser.ts';
import { RunOver } from './run-over.ts';

/** Lets LangChain's AgentExecutor work until the run is over. */
export async function runReAct(
  environment: Environment,
  settings: PlannerSettings,
  lessons?: readonly Lesson[],
): Promise<void> {
  const steps = new CarefulSteps(environment);
  const prompt = ChatPromptTemplate.fromMessages([
    ['system', '{instructions}'],
    ['human', '{opening}\n\n{agent_scratchpad}'],
  ]);
  const { actions, task } = environment;
  const filled = await prompt.partial({
    instructions: instructions(actions, task, lessons),
    opening: opening(steps.state.describe()),
  });
  const model = new EnvironmentModel(environment).withConfig({ stop: ['\nObservation:'] });
  const chain = filled.pipe(model).pipe(new ReplyParser(environment));
  const executor = new AgentExecutor({
    agent: new RunnableAgent({ runnable: new Planner(chain, environment, settings), streamRunnable: false }),
    tools: actions.map(({ name, description }) => toolFor(name, description, steps)),
    // Steps end with the run, and the planner counts unreadable replies.
    maxIterations: Number.POSITIVE_INFINITY,
    handleParsingErrors: true,
    // Without this, the executor swallows every error that a tool throws.
    handleToolRuntimeErrors: (error) => {
      throw error;
    },
  });
  try {
    await executor.invoke({}, { callbacks: [new NoTracer()] });
  } catch (error) {
    if (!(error instanceof RunOver)) throw error;
  }
}

const Arguments = z.record(z.string(), z.unknown());

function toolFor(name: string, description: string, steps: CarefulSteps): DynamicStructuredTool {
  return new DynamicStructuredTool({
    name,
    description,
    // The arguments as JSON text; the environment checks whether they are valid.
    schema: z.string(),
    func: async (input) => {
      const taken = await steps.take({ name, args: Arguments.parse(JSON.parse(input)) });
      if (taken.ended) throw new RunOver(taken.observation);
      return observationText(taken, steps.state.describe());
    },
  });
}

/**
 * Takes the place of LangSmith's tracer. LangChain adds that tracer, which sends everything to a server, if an
 * environment variable says so and there is no handler with this name.
 */
class NoTracer extends BaseCallbackHandler {
  override readonly name = 'langchain_tracer';

  /** LangChain calls this on its tracer. */
  getRunTreeWithTracingConfig(): undefined {
    return undefined;
  }
}
