/** For tests of agents: `import … from 'mlagentbench/testing'`. See docs/how-to/write-an-agent.md. */
import { type Agent, optionsFor } from '../agents/index.ts';
import type { AgentOptions, Lesson } from '../schema/index.ts';
import { FakeEnvironment } from './fake-environment.ts';
import type { FakeEnvironmentSettings } from './fake-settings.ts';

export type { ScriptedReplies, ScriptedReplyInput } from '../models/index.ts';
export { FakeEnvironment } from './fake-environment.ts';
export type { CallUse, FakeBranch, FakeEnvironmentSettings, ScriptResult } from './fake-settings.ts';

/** What an agent gets besides its environment. */
export interface FakeRunSettings extends FakeEnvironmentSettings {
  /** Default: 0. */
  seed?: number;
  /** Options that differ from the agent's defaults. */
  options?: AgentOptions;
  /** For an agent that `usesExperience`. */
  experience?: readonly Lesson[];
}

/**
 * Runs an agent in a `FakeEnvironment` with these settings, and returns the environment, which recorded what the agent
 * did.
 */
export async function runAgent(agent: Agent, settings: FakeRunSettings = {}): Promise<FakeEnvironment> {
  const environment = new FakeEnvironment(settings);
  const { seed = 0, options = {}, experience } = settings;
  const all = optionsFor(agent, options);
  await agent.run({ environment, seed, options: all, experience, reference: null });
  return environment;
}
