export type { Agent, AgentContext } from './agent.ts';
export { agentByName, agents } from './agents.ts';
export { checkAgentOptions } from './common/options.ts';
export {
  AgentDescription,
  agentOfRun,
  type FoundAgent,
  findAgent,
  refuseTakenName,
} from './load-agent.ts';
export type { Program, ProgramPackage, ProgramPlace, ProgramStart } from './outside/program.ts';
export { programBrief } from './outside/prompts.ts';
export { programVersion, refuseChangedProgram } from './outside/version.ts';
