import type { RunSpec } from '../schema/index.ts';

/**
 * The agent with its model and options, as people read it: `research(openai/gpt-5, profile=paper)`. One that is given
 * lessons of other runs is another agent than without.
 */
export function agentLabel({
  agent,
  model,
  agent_options: options,
  experience = [],
}: Pick<RunSpec, 'agent' | 'model' | 'agent_options' | 'experience'>): string {
  const chosen = Object.entries(options)
    // What a command is shown stands in the command.
    .filter(([name]) => name !== 'files' || options.command === undefined)
    .map(([name, value]) => `${name}=${String(value)}`);
  const inside = [...(model === null ? [] : [model]), ...chosen, ...(experience.length > 0 ? ['warm'] : [])];
  return inside.length === 0 ? agent : `${agent}(${inside.join(', ')})`;
}
