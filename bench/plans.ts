import { agentByName } from '../src/agents/index.ts';
import { makePlan, type TaskResources } from '../src/runs/index.ts';
import { ExperimentFile, type Limits, type Plan, type SandboxDriver } from '../src/schema/index.ts';

export interface Wanted {
  name: string;
  agent: string;
  seeds: number | number[];
  grade: Plan['grade'];
  sandbox: SandboxDriver;
  limits?: Partial<Limits>;
}

/** The plan that `mlab run` would make of the same flags. */
export function planFor(wanted: Wanted, { task, prepared }: TaskResources): Plan {
  const { agent, ...flags } = wanted;
  const file = ExperimentFile.parse({ ...flags, agents: [agent], parallel: 1 });
  const agents = [{ agent: agentByName(agent), options: {} }];
  return makePlan(file, [{ task, verified: prepared.verified }], agents, 'bench');
}
