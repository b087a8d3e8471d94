import { type Agent, speaksAcp } from '../agents/index.ts';
import { UserError } from '../lib/errors.ts';
import type { RunSpec } from '../schema/index.ts';

/**
 * Refuses to supervise agents that nobody can supervise: programs act by themselves, unless they ask for permissions.
 * @param atTerminal whether --approve is given
 * @throws UserError `not_gated`
 */
export async function checkApproval(
  runs: readonly RunSpec[],
  atTerminal: boolean,
  agentOf: (run: RunSpec) => Promise<Agent>,
): Promise<void> {
  for (const run of runs) {
    const later = run.approve_later === true;
    if (!atTerminal && !later) continue;
    const { program } = await agentOf(run);
    if (program === undefined) continue;
    const asks = speaksAcp(program, run.agent_options);
    if (asks && !later) continue;
    throw asks
      ? new UserError(
          'not_gated',
          `The agent ${run.agent} is a program that asks for permissions while it runs, and can't wait until somebody decides later.`,
          'Leave out --approve-later. With --approve, it asks you at this terminal.',
        )
      : new UserError(
          'not_gated',
          `The agent ${run.agent} is a program that acts without asking for approval.`,
          `Leave out ${[...(atTerminal ? ['--approve'] : []), ...(later ? ['--approve-later'] : [])].join(' and ')}.`,
        );
  }
}
