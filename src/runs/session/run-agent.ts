import { type Agent, optionsFor } from '../../agents/index.ts';
import type { RunEnvironment } from '../../environment/index.ts';
import { AsyncDisposableStack } from '../../lib/disposable-stack.ts';
import type { RunSpec } from '../../schema/index.ts';
import { AgentFailed } from '../agents/agent-process.ts';

/** Runs the agent until it is done. Returns why it failed; null if it did not. */
export async function runAgent(
  agent: Agent,
  environment: RunEnvironment,
  spec: RunSpec,
  reference: ReadonlyMap<string, string> | null,
): Promise<string | null> {
  const { seed, agent_options, experience } = spec;
  const options = optionsFor(agent, agent_options);
  const done = new AbortController();
  await using resources = new AsyncDisposableStack();
  try {
    const working = agent.run({ environment, seed, options, reference, experience, resources });
    await Promise.race([working, environment.abandoned(done.signal), environment.ignoresEnd]);
    return null;
  } catch (error) {
    // The environment reports infrastructure failures.
    if (environment.failure !== null) return null;
    if (error instanceof AgentFailed) return error.message;
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  } finally {
    done.abort();
  }
}
