import type { Environment } from '../../environment/index.ts';
import type { AgentOptions, Lesson, ModelMessage } from '../../schema/index.ts';
import type { Agent } from '../agent.ts';
import { type Answered, asMessage } from '../common/answered.ts';
import { CarefulSteps } from '../common/careful-steps.ts';
import { wholeNumberOption } from '../common/options.ts';
import { Toolbox } from '../common/toolbox.ts';
import { ToolConversation } from './conversation.ts';
import { cutCall, instructions, nudge, opening, resultText } from './prompts.ts';

/** A loop on native tool calling. It parses no text of the model, and keeps the whole conversation as long as it fits. */
export const tools: Agent = {
  name: 'tools',
  summary: 'Lets a language model call the actions as tools, with the whole history in its context.',
  needs: { model: true, reference: false },
  usesExperience: true,
  options: {
    context_tokens: {
      description: 'estimated tokens of a request from which on old answers of tools are taken out of it',
      default: 120_000,
    },
    nudges: {
      description:
        'replies in a row without a tool call that the model is told of before the run is given up',
      default: 2,
    },
  },
  ready(options) {
    readSettings(options);
  },
  async run({ environment, options, experience }) {
    const { contextTokens, maxNudges } = readSettings(options);
    const toolbox = new Toolbox(environment.actions);
    const finalAnswer = toolbox.toolFor('Final Answer');
    const steps = new CarefulSteps(environment);
    const head = headOf(environment, steps, finalAnswer, experience);
    const conversation = new ToolConversation(head, toolbox.tools, contextTokens);
    for (let idle = 0; idle <= maxNudges; ) {
      const reply = await ask(environment, toolbox, conversation);
      if (reply === null) return;
      conversation.addReply(asMessage(reply));
      if (reply.text.trim() !== '') environment.note({ Thought: reply.text });
      const { acted, ended } = await takeSteps(reply, steps, toolbox, conversation);
      if (ended) return;
      idle = acted ? 0 : idle + 1;
      if (reply.tool_calls.length === 0) conversation.addNudge(nudge(finalAnswer, reply.finish === 'length'));
    }
    const message = `${maxNudges + 1} replies in a row held no tool call that could be carried out.`;
    environment.giveUp('reply_format', message);
  },
};

function readSettings(options: AgentOptions): { contextTokens: number; maxNudges: number } {
  return {
    contextTokens: wholeNumberOption(tools, options, 'context_tokens', 1000),
    maxNudges: wholeNumberOption(tools, options, 'nudges', 0),
  };
}

/** The same in every request, so that providers can keep it in their caches. */
function headOf(
  { task }: Environment,
  { state }: CarefulSteps,
  finalAnswer: string,
  lessons: readonly Lesson[] | undefined,
): ModelMessage[] {
  return [
    { role: 'system', text: instructions(finalAnswer), stable: true },
    { role: 'user', text: opening(task, state.describe(), lessons), stable: true },
  ];
}

/** The next reply; null if the run is over. */
async function ask(
  environment: Environment,
  toolbox: Toolbox,
  conversation: ToolConversation,
): Promise<Answered | null> {
  for (;;) {
    const messages = conversation.messages();
    const reply = await environment.ask({
      role: 'agent',
      purpose: 'act',
      messages,
      tools: [...toolbox.tools],
    });
    if (reply.kind === 'answered') return reply;
    if (reply.kind === 'context_too_long' && conversation.shrink()) continue;
    if (reply.kind === 'context_too_long') environment.giveUp('context_limit', reply.message);
    if (reply.kind === 'refused') environment.giveUp('refused', reply.message);
    return null;
  }
}

/** Executes the calls of a reply in order, until the run ends. */
async function takeSteps(
  { tool_calls, finish }: Answered,
  steps: CarefulSteps,
  toolbox: Toolbox,
  conversation: ToolConversation,
): Promise<{ acted: boolean; ended: boolean }> {
  const whole = finish === 'length' ? tool_calls.slice(0, -1) : tool_calls;
  for (const [index, call] of whole.entries()) {
    const action = toolbox.actionOf(call);
    const taken = await steps.take(action);
    if (taken.ended) return { acted: true, ended: true };
    const state = index === whole.length - 1 ? steps.state.describe() : null;
    const text = resultText(taken);
    conversation.addResult({ call, action: action.name, status: taken.status, text, state });
  }
  for (const call of tool_calls.slice(whole.length)) {
    const action = toolbox.actionOf(call).name;
    conversation.addResult({ call, action, status: 'not carried out', text: cutCall, state: null });
  }
  return { acted: whole.length > 0, ended: false };
}
