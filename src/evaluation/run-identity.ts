import type { RunSpec } from '../schema/index.ts';

/**
 * The agent with its model and options, as shown to people: `research(openai/gpt-5, profile=paper)`. An agent with
 * lessons of other runs is distinct from the one without.
 */
export function agentLabel({
  agent,
  model,
  agent_options: options,
  experience = [],
}: Pick<RunSpec, 'agent' | 'model' | 'agent_options' | 'experience'>): string {
  const chosen = Object.entries(options)
    // The files of a command are listed in the command.
    .filter(([name]) => name !== 'files' || options.command === undefined)
    .map(([name, value]) => `${name}=${String(value)}`);
  const inside = [...(model === null ? [] : [model]), ...chosen, ...(experience.length > 0 ? ['warm'] : [])];
  return inside.length === 0 ? agent : `${agent}(${inside.join(', ')})`;
}
