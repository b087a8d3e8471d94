import { statSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../lib/errors.ts';
import { nearest } from '../lib/nearest.ts';
import { act } from './act/act.ts';
import type { Agent } from './agent.ts';
import { autogpt } from './autogpt/autogpt.ts';
import { automl } from './automl/automl.ts';
import { holdOutRows } from './automl/model-writing/held-out.ts';
import { baseline } from './baseline/baseline.ts';
import { langchain } from './langchain/langchain.ts';
import { mcp } from './mcp/mcp.ts';
import { noop } from './noop/noop.ts';
import { oracle } from './oracle/oracle.ts';
import { outsideAgents } from './outside/agents.ts';
import { react } from './react/react.ts';
import { research } from './research/research.ts';
import { tools } from './tools/tools.ts';
import { treeAgent } from './tree/tree.ts';

/** All agents, sorted by name. */
export const agents: readonly Agent[] = [
  act,
  autogpt,
  automl,
  baseline,
  langchain,
  mcp,
  noop,
  oracle,
  react,
  research,
  tools,
  treeAgent(automl, holdOutRows),
  ...outsideAgents,
].toSorted((one, other) => (one.name < other.name ? -1 : 1));

/**
 * Throws a UserError that lists the agents if there is none with this name.
 * @param folder in which a file may have this name
 */
export function agentByName(name: string, folder?: string): Agent {
  const agent = agents.find((candidate) => candidate.name === name);
  if (agent !== undefined) return agent;
  const names = agents.map((candidate) => candidate.name);
  const file = folder === undefined ? null : fileNamed(name, folder);
  const near = file ?? nearest(name, names);
  const list = `The agents are: ${names.join(', ')}; a path such as ./my-agent.ts is one of your own`;
  throw new UserError(
    'unknown_agent',
    `There is no agent "${name}".`,
    near === null ? list : `Did you mean ${file === null ? `"${near}"` : near}? ${list}`,
  );
}

function fileNamed(name: string, folder: string): string | null {
  const files = ['', '.py', '.ts', '.mts', '.js', '.mjs'].map((suffix) => `${name}${suffix}`);
  const file = files.find((path) => statSync(join(folder, path), { throwIfNoEntry: false })?.isFile());
  return file === undefined ? null : `./${file}`;
}
