import { UserError } from '../../lib/errors.ts';
import type { AgentOptions } from '../../schema/index.ts';
import type { Agent } from '../agent.ts';
import { choiceOption, wholeNumberOption } from '../common/options.ts';
import type { Program } from './program.ts';

export interface OutsideAgent extends Agent {
  program: Program;
}

const protocol = {
  description:
    'exec: started with the task, it works by itself; acp: prompted through the Agent Client Protocol',
  default: 'exec',
};
const prompts = {
  description: 'maximum number of prompts through the Agent Client Protocol, the first included',
  default: 5,
};

/** Makes an agent of a program, which is not run in this process but started in the run's sandbox. */
export function outsideAgent(
  name: string,
  summary: string,
  program: Program,
  options: Agent['options'] = {},
): OutsideAgent {
  const version = program.package?.version;
  const all: Agent['options'] = {
    ...(version === undefined
      ? {}
      : { version: { description: 'version of its package', default: version } }),
    ...(program.acp === undefined || program.start === undefined ? {} : { protocol }),
    ...(program.acp === undefined ? {} : { prompts }),
    ...options,
  };
  return {
    name,
    summary,
    needs: { model: program.modelIsOptional !== true, reference: false },
    options: all,
    program,
    ready: (given) => {
      const described = { name, options: all };
      if ('protocol' in all) choiceOption(described, given, 'protocol', ['exec', 'acp']);
      if ('label' in all) checkLabel(given.label ?? '');
      if ('prompts' in all) wholeNumberOption(described, given, 'prompts', 1);
    },
    run: async () => {
      throw new Error(`${name} is a program, which is started in the sandbox of a run`);
    },
  };
}

/** It is part of the names of runs. */
function checkLabel(label: AgentOptions[string]): void {
  if (label === '' || (typeof label === 'string' && /^[a-z0-9][a-z0-9-]{0,40}$/.test(label))) return;
  throw new UserError(
    'wrong_agent_option',
    `the label "${label}" of the command can't be used`,
    'Use only lower-case letters, digits and -, such as my-agent.',
  );
}

/** The base URLs of the providers' dialects at the gateway's origin. */
export function baseUrls(gateway: string) {
  return { openai: `${gateway}/v1`, anthropic: gateway, google: gateway };
}

/** Programs with tools send no tools when they ask for titles and summaries. */
export function asksWithoutTools({ tools }: { tools?: readonly unknown[] | undefined }): boolean {
  return tools === undefined || tools.length === 0;
}

/** The most prompts that an agent of the Agent Client Protocol gets. */
export function maxPrompts(options: AgentOptions): number {
  return typeof options.prompts === 'number' ? options.prompts : prompts.default;
}
