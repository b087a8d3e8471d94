import { UserError } from '../../lib/errors.ts';
import { nearest } from '../../lib/nearest.ts';
import type { AgentOptions } from '../../schema/index.ts';
import type { Agent } from '../agent.ts';

type Described = Pick<Agent, 'name' | 'options'>;

const typeWords: Partial<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
};

/** Throws a UserError for an option that the agent does not have, or one of another type. */
export function checkAgentOptions(agent: Described, given: AgentOptions): void {
  const known = Object.keys(agent.options);
  for (const [name, value] of Object.entries(given)) {
    const option = Object.hasOwn(agent.options, name) ? agent.options[name] : undefined;
    if (option === undefined) {
      const near = nearest(name, known);
      const list =
        known.length === 0 ? `${agent.name} has no options` : `${agent.name} has: ${known.join(', ')}`;
      throw new UserError(
        'unknown_agent_option',
        `the agent "${agent.name}" has no option "${name}"`,
        near === null ? list : `Did you mean "${near}"? ${list}`,
      );
    }
    if (typeof value !== typeof option.default) {
      throw new UserError(
        'wrong_agent_option',
        `the option "${name}" of the agent "${agent.name}" must be ${typeWords[typeof option.default]}, not ${JSON.stringify(value)}`,
        `${name}: ${option.description} (default ${String(option.default)})`,
      );
    }
  }
}

/** The given options, and the defaults of all others. */
export function withDefaults({ options }: Pick<Agent, 'options'>, given: AgentOptions): AgentOptions {
  const defaults = Object.entries(options).map(([name, option]) => [name, option.default]);
  return { ...Object.fromEntries(defaults), ...given };
}

/** A whole number, given or the option's default. Throws a UserError unless it is at least `least`. */
export function wholeNumberOption(
  agent: Described,
  given: AgentOptions,
  name: string,
  least: number,
): number {
  const value = given[name] ?? agent.options[name]?.default;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return value;
  throw new UserError(
    'wrong_agent_option',
    `the option "${name}" of the agent "${agent.name}" must be a whole number of at least ${least}, not ${String(value)}`,
    `for example: ${name}: ${String(agent.options[name]?.default)}`,
  );
}

/** One of several words, given or the option's default. Throws a UserError for any other. */
export function choiceOption<Choice extends string>(
  agent: Described,
  given: AgentOptions,
  name: string,
  choices: readonly Choice[],
): Choice {
  const value = given[name] ?? agent.options[name]?.default;
  const choice = choices.find((each) => each === value);
  if (choice !== undefined) return choice;
  throw new UserError(
    'wrong_agent_option',
    `the option "${name}" of the agent "${agent.name}" must be one of ${choices.join(', ')}, not ${String(value)}`,
    `for example: ${name}: ${String(agent.options[name]?.default)}`,
  );
}
