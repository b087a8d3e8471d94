import { UserError } from '../lib/errors.ts';
import { unlimitedOutputTokens } from '../models/index.ts';
import type { Plan } from '../schema/index.ts';
import { firstRequest } from './check-money.ts';

/**
 * Compares limits on tokens with what one call reserves: its longest reply, and a token for each byte of the request.
 * @param programs names of agents that are programs, which decide themselves how long a reply may be
 * @returns a warning for each limit that may be too low
 * @throws UserError `tokens_too_low` if no call of a run fits
 */
export function checkTokens({ runs, spend }: Plan, programs: ReadonlySet<string>): string[] {
  const warnings = new Set<string>();
  for (const { agent, roles, limits } of runs) {
    if (roles === undefined) continue;
    const isProgram = programs.has(agent);
    const { model } = roles.agent;
    const reply = isProgram ? unlimitedOutputTokens : roles.agent.max_output_tokens;
    const given = [
      { flag: '--tokens', limit: limits.tokens },
      { flag: '--experiment-tokens (spend.tokens)', limit: spend?.tokens },
    ].flatMap(({ flag, limit }) => (limit === undefined ? [] : [{ said: `${flag} ${limit}`, limit }]));
    for (const { said, limit } of given) {
      if (isProgram) {
        if (limit <= reply)
          warnings.add(
            `${said} may be too low: if ${agent} sets no limit of its own, ${model} may reply with ${reply} tokens, and a call that may need more than are left is not made.`,
          );
        continue;
      }
      if (limit <= reply) {
        throw new UserError(
          'tokens_too_low',
          `${said} does not allow a single call: ${model} may reply with ${reply} tokens, and mlab makes no call that may need more than are left.`,
          'Allow more, or lower --max-output-tokens (roles.agent.max_output_tokens in an experiment file).',
        );
      }
      if (limit <= reply + firstRequest)
        warnings.add(
          `${said} may not allow a single call: the first one may reserve about ${reply + firstRequest} tokens, ${reply} of them for its reply.`,
        );
    }
  }
  return [...warnings];
}
