import type { Environment } from '../../environment/index.ts';
import type { Action, AgentOptions, Lesson, ModelMessage } from '../../schema/index.ts';
import type { Agent } from '../agent.ts';
import { CarefulSteps } from '../common/careful-steps.ts';
import { wholeNumberOption } from '../common/options.ts';
import { readCommand } from './command.ts';
import { Memory } from './memory.ts';
import { correctionPrompt, instructions, nextPrompt, taskPrompt } from './prompts.ts';

/** AutoGPT's loop: thoughts and one JSON command per turn, with a running summary in place of old turns. */
export const autogpt: Agent = {
  name: 'autogpt',
  summary: 'AutoGPT: thoughts, plan, criticism and a JSON command each turn; a running summary as memory.',
  needs: { model: true, reference: false },
  usesExperience: true,
  options: {
    steps_in_context: { description: 'latest steps that are told in full', default: 5 },
    observation_characters: {
      description: 'characters of a result before its middle is left out',
      default: 8000,
    },
    summary_words: { description: 'words of the running summary at most', default: 300 },
    invalid_replies: {
      description: 'replies in a row without a readable command before the run is given up',
      default: 5,
    },
  },
  ready(options) {
    readSettings(options);
  },
  async run({ environment, options, experience }) {
    const { maxInvalid, ...sizes } = readSettings(options);
    const memory = new Memory(environment, sizes);
    const head = headOf(environment, experience);
    const steps = new CarefulSteps(environment);
    while (await memory.settle()) {
      const next: ModelMessage = { role: 'user', text: nextPrompt(steps.state.describe()) };
      const command = await decide(
        environment,
        () => [...head, ...memory.messages(), next],
        memory,
        maxInvalid,
      );
      if (command === null) return;
      environment.note(command.thoughts);
      const taken = await steps.take(command.action);
      if (taken.ended) return;
      memory.add(command.reply, command.action.name, taken);
    }
  },
};

function readSettings(options: AgentOptions) {
  return {
    steps: wholeNumberOption(autogpt, options, 'steps_in_context', 1),
    characters: wholeNumberOption(autogpt, options, 'observation_characters', 100),
    words: wholeNumberOption(autogpt, options, 'summary_words', 10),
    maxInvalid: wholeNumberOption(autogpt, options, 'invalid_replies', 1),
  };
}

/** The same in every request, so that providers can keep it in their caches. */
function headOf({ actions, task }: Environment, lessons: readonly Lesson[] | undefined): ModelMessage[] {
  return [
    { role: 'system', text: instructions(actions), stable: true },
    { role: 'user', text: taskPrompt(task, lessons), stable: true },
  ];
}

interface Command {
  reply: string;
  action: Action;
  thoughts: Record<string, string>;
}

/** The next command; null if the run is over, including when no reply could be read. */
async function decide(
  environment: Environment,
  messages: () => ModelMessage[],
  memory: Memory,
  maxInvalid: number,
): Promise<Command | null> {
  let corrections: ModelMessage[] = [];
  for (let invalid = 0; invalid < maxInvalid; ) {
    const reply = await environment.ask({
      role: 'agent',
      purpose: 'act',
      messages: [...messages(), ...corrections],
    });
    if (reply.kind === 'context_too_long' && (corrections.length > 0 || memory.shrink())) {
      corrections = [];
      if (!(await memory.settle())) return null;
      continue;
    }
    if (reply.kind === 'context_too_long') environment.giveUp('context_limit', reply.message);
    if (reply.kind === 'refused') environment.giveUp('refused', reply.message);
    if (reply.kind !== 'answered') return null;
    // A truncated command could be read as another one.
    const isCut = reply.finish === 'length';
    const reading = isCut ? cutOff : readCommand(reply.text, environment.actions);
    if (reading.ok) return { ...reading, reply: reply.text };
    invalid += 1;
    corrections = [
      { role: 'assistant', text: reply.text },
      { role: 'user', text: correctionPrompt(reading.problem) },
    ];
  }
  environment.giveUp('reply_format', `No command could be read from ${maxInvalid} replies in a row.`);
  return null;
}

const cutOff = {
  ok: false,
  problem:
    'Your reply was cut off at its length limit. Write less in one reply: a long file can be written in parts.',
} as const;
