import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Agent, agentOfRun, type FoundAgent, findAgent } from '../../agents/index.ts';
import { UserError } from '../../lib/errors.ts';
import type { RunSpec } from '../../schema/index.ts';
import { type AgentPlace, loadPythonAgent } from './python-agent.ts';

/**
 * The agent that a name stands for: one of mlab, a module or package (`findAgent`), or a Python file.
 * @throws UserError where there is none, or it can't be loaded
 */
export async function findAnyAgent(name: string, folder: string, place: AgentPlace): Promise<FoundAgent> {
  // A command may end so, too.
  if (!name.endsWith('.py') || /^(command|acp):/.test(name)) return await findAgent(name, folder);
  const path = resolve(folder, name);
  if (existsSync(path)) return await loadPythonAgent(realpathSync(path), place);
  throw new UserError(
    'agent_not_found',
    `there is no file ${path}`,
    'Give the path of a Python file with an agent.',
  );
}

/**
 * The agent of a planned run, whatever its language.
 * @throws UserError `agent_changed` where its source is not the one that was planned
 */
export async function anyAgentOfRun(run: RunSpec, place: AgentPlace): Promise<Agent> {
  return await agentOfRun(run, (name, folder) => findAnyAgent(name, folder, place));
}
