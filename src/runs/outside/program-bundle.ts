import { agents } from '../../agents/index.ts';
import { UserError } from '../../lib/errors.ts';
import type { ModelRegistry } from '../../models/index.ts';
import type { RunSpec } from '../../schema/index.ts';
import { type Bundle, type BundleOptions, ensureBundle } from './bundle.ts';

/** The bundle of a run's agent if it is a program that needs one; null otherwise. */
export async function bundleOfRun(
  { agent, agent_version: version }: Pick<RunSpec, 'agent' | 'agent_version'>,
  options: BundleOptions,
): Promise<Bundle | null> {
  const wanted = agents.find(({ name }) => name === agent)?.program?.package ?? null;
  return wanted === null ? null : await ensureBundle(wanted, version ?? wanted.version, options);
}

/** @throws UserError if the agent is a program that does not support the run's model */
export function checkDialect({ agent, roles }: RunSpec, registry: ModelRegistry): void {
  const program = agents.find(({ name }) => name === agent)?.program;
  if (program === undefined || roles === undefined) return;
  const { dialects } = registry.upstream(roles);
  if (program.dialects.some((dialect) => dialects.includes(dialect))) return;
  throw new UserError(
    'no_dialect',
    `The agent ${agent} uses ${program.dialects.join(' or ')}, but ${roles.agent.model} is available only through ${dialects.join(' or ')}.`,
    'Choose a model whose provider supports that dialect, or use a server that translates (such as LiteLLM) as openai-compatible/….',
  );
}
