export type { Agent, AgentContext } from './agent.ts';
export { agentByName, agents } from './agents.ts';
export { checkAgentOptions } from './common/options.ts';
export { agentOfRun, type FoundAgent, findAgent } from './load-agent.ts';
