import { UserError } from '../lib/errors.ts';
import { mostThatCosts, PriceTable, unlimitedOutputTokens } from '../models/index.ts';
import type { Plan, RunSpec } from '../schema/index.ts';

/**
 * Tokens that the first request of an agent may reserve. With `--task digits --money 0.0101`, prices of 1 and 5 dollars
 * and replies of 2,000 tokens, `mlab runs show` says: 7,400 for react, 8,200 for research, 13,000 for tools.
 */
export const firstRequest = 13_000;

/**
 * Compares limits on money with what one call reserves: a call is made only if its longest reply fits.
 * @param programs names of agents that are programs, which decide themselves how long a reply may be
 * @returns a warning for each limit that may be too low
 * @throws UserError `money_too_low` if no call of a run fits
 */
export function checkMoney({ runs, prices, spend }: Plan, programs: ReadonlySet<string>): string[] {
  const table = new PriceTable(prices);
  const warnings = new Set<string>();
  for (const run of runs) {
    const price = run.roles && table.priceOf(run.roles.agent.model);
    if (run.roles === undefined || price == null) continue;
    const isProgram = programs.has(run.agent);
    const output = isProgram ? unlimitedOutputTokens : run.roles.agent.max_output_tokens;
    const least = mostThatCosts({ input: 0, output }, price);
    const low = tooLow(run, spend?.money, least);
    if (low === null) {
      const usual = mostThatCosts({ input: firstRequest, output }, price);
      const tight = isProgram ? null : tooLow(run, spend?.money, usual);
      if (tight !== null)
        warnings.add(
          `${tight} may not allow a single call: beside the longest reply it must pay for the request, with the first one up to about ${exactly(usual)}.`,
        );
      continue;
    }
    const reply = `${run.roles.agent.model} may reply with ${output} tokens, which cost ${exactly(least)} at ${exactly(price.output)} per million`;
    if (isProgram) {
      warnings.add(
        `${low} may be too low: if ${run.agent} sets no limit of its own, ${reply}, and a call that may cost more than is left is not made.`,
      );
      continue;
    }
    throw new UserError(
      'money_too_low',
      `${low} does not allow a single call: ${reply}, and mlab makes no call that may cost more than is left.`,
      `Allow more than ${exactly(least)}, preferably twice as much, since the request also costs something; or lower --max-output-tokens (roles.agent.max_output_tokens in an experiment file).`,
    );
  }
  return [...warnings];
}

/** The flag whose limit is below the least that a call reserves; null if there is none. */
function tooLow({ limits }: RunSpec, ofAll: number | undefined, least: number): string | null {
  if (limits.money !== undefined && limits.money <= least) return `--money ${limits.money}`;
  return ofAll !== undefined && ofAll <= least ? `--experiment-money (spend.money) ${ofAll}` : null;
}

/** Small amounts need their digits. */
function exactly(amount: number): string {
  return `$${amount >= 1 ? amount.toFixed(2) : String(Number(amount.toPrecision(3)))}`;
}
