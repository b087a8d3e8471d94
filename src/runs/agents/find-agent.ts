import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type Agent, agentOfRun, type FoundAgent, findAgent } from '../../agents/index.ts';
import { UserError } from '../../lib/errors.ts';
import type { RunSpec } from '../../schema/index.ts';
import { type AgentPlace, loadPythonAgent } from './python-agent.ts';

/**
 * The agent that a name stands for: one of mlab's, a module or package (`findAgent`), or a Python file.
 * @throws UserError if there is none, or it can't be loaded
 */
export async function findAnyAgent(name: string, folder: string, place: AgentPlace): Promise<FoundAgent> {
  // A command may have this suffix, too.
  if (!name.endsWith('.py') || /^(command|acp):/.test(name)) return await findAgent(name, folder);
  const path = resolve(folder, name);
  if (existsSync(path)) return await loadPythonAgent(realpathSync(path), place);
  throw new UserError(
    'agent_not_found',
    `There is no file ${path}.`,
    'Give the path of a Python file with an agent.',
  );
}

/**
 * The agent of a planned run, in any language.
 * @throws UserError `agent_changed` if its source is not the one that was planned, `agent_not_trusted` if the source
 *   came with the plan
 */
export async function anyAgentOfRun(
  run: Pick<RunSpec, 'agent' | 'agent_source'>,
  place: AgentPlace,
): Promise<Agent> {
  // Resolved as when it is loaded: `//proc` is `/proc`, and `proc` is relative to the root.
  if (run.agent_source !== undefined) refuseHandedOn(resolve('/', run.agent_source.path));
  return await agentOfRun(run, (name, folder) => findAnyAgent(name, folder, place));
}

/** Otherwise whoever shares an experiment could have their code run by naming it as the agent. */
function refuseHandedOn(path: string): void {
  const isFoundByProcess = /^\/(proc|dev)\//.test(path);
  if (!isFoundByProcess && (!existsSync(path) || !isInExperiment(realpathSync(path)))) return;
  throw new UserError(
    'agent_not_trusted',
    `The agent of the run is ${path}, which is part of an experiment: it may have come with the plan that names it.`,
    'Keep your own agents outside the experiments folder, and plan an experiment with them.',
  );
}

function isInExperiment(path: string): boolean {
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder))
    if (existsSync(join(folder, 'plan.json')) && existsSync(join(folder, 'runs'))) return true;
  return false;
}
