import { sha256 } from '../lib/hash.ts';
import { isImported, type RunEvaluation, type RunSpec } from '../schema/index.ts';

const longestValue = 80;

/**
 * The agent with its model and options, as shown to people: `research(openai/gpt-5, profile=paper)`. An agent with
 * lessons of other runs is distinct from the one without. A command with a label is called by it.
 */
export function agentLabel({
  agent,
  model,
  agent_options: options,
  experience = [],
}: Pick<RunSpec, 'agent' | 'model' | 'agent_options' | 'experience'>): string {
  const isCommand = options.command !== undefined;
  const label = isCommand && typeof options.label === 'string' ? options.label : '';
  // The files of a command are listed in the command.
  const hidden = isCommand ? ['files', 'label', ...(label === '' ? [] : ['command'])] : [];
  const chosen = Object.entries(options)
    .filter(([name]) => !hidden.includes(name))
    .map(([name, value]) => `${name}=${shortened(String(value))}`);
  const inside = [...(model === null ? [] : [model]), ...chosen, ...(experience.length > 0 ? ['warm'] : [])];
  const name = label === '' ? agent : label;
  return inside.length === 0 ? name : `${name}(${inside.join(', ')})`;
}

/** A script as an option would fill a report; the end of its hash still tells it from others. */
function shortened(value: string): string {
  if (value.length <= longestValue && !/[\r\n]/.test(value)) return value;
  return `${value.replaceAll(/\s+/g, ' ').slice(0, longestValue / 2)}… ${sha256(value).slice(0, 6)}`;
}

/** What must be the same in runs whose results are pooled; of a run of another system it is not known. */
export function conditionsOf(spec: RunSpec): Pick<RunEvaluation, 'task_version' | 'conditions'> {
  if (isImported(spec)) return {};
  const { task_version, limits, clock = 'wall', roles = null } = spec;
  return { task_version, conditions: sha256(JSON.stringify([limits, clock, roles])).slice(0, 16) };
}

/** Distinguishes runs of agents that have the same label and different sources; a command's version is of its files alone. */
export function sourceOf({
  agent_source: source,
  agent_version: version,
  agent_options: { command },
}: Pick<RunSpec, 'agent_source' | 'agent_version' | 'agent_options'>): Pick<RunEvaluation, 'source'> {
  if (command !== undefined) return { source: { hash: sha256(JSON.stringify([command, version])) } };
  if (source !== undefined) {
    const { sha256: hash, version: own } = source;
    return { source: { hash, ...(own === undefined ? {} : { version: own }) } };
  }
  if (version === undefined) return {};
  const [, hash] = /^sha256:(.*)$/.exec(version) ?? [];
  return { source: hash === undefined ? { hash: version, version } : { hash } };
}
