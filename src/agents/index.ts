export type { Agent, AgentContext } from './agent.ts';
export { agentByName, agents } from './agents.ts';
export { tooSmallForSearch } from './automl/study.ts';
export { checkAgentOptions } from './common/options.ts';
export {
  AgentDescription,
  agentOfRun,
  descriptionProblems,
  type FoundAgent,
  findAgent,
  optionsFor,
  refuseTakenName,
  versionOf,
} from './load-agent.ts';
export { loadMcp } from './mcp/load.ts';
export { mcp } from './mcp/mcp.ts';
export type { Served } from './mcp/serve.ts';
export type { TaskServer } from './mcp/task-server.ts';
export { commandFiles, requireCommand } from './outside/command.ts';
export { commandWarnings } from './outside/command-warnings.ts';
export { refuseMissingScript } from './outside/missing-script.ts';
export { maxPrompts } from './outside/outside-agent.ts';
export type {
  AcpStart,
  Program,
  ProgramPackage,
  ProgramPlace,
  ProgramSession,
  ProgramStart,
} from './outside/program.ts';
export { speaksAcp } from './outside/program.ts';
export { continuePrompt, programBrief } from './outside/prompts.ts';
export { programVersion, refuseChangedProgram } from './outside/version.ts';
