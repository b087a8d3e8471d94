import type { OutputLimits } from './dialects/dialect.ts';

/** What is reserved for an answer whose length the program does not limit. */
export const unlimitedOutputTokens = 32_000;
/** More than any model writes. */
const mostOutputTokens = 1e9;

/**
 * The most tokens that the answers to a request can have together, or an assumed limit.
 * @param several whether it may ask for more than one answer
 */
export function mostOutput(
  { tokens, answers }: OutputLimits,
  several: boolean,
): number | { problem: string } {
  const limits = Object.entries(tokens).filter(([, value]) => isGiven(value));
  const wrong = limits.find(([, value]) => value !== noMaximum && !isCount(value));
  if (wrong !== undefined) return { problem: `${wrong[0]} is a whole number of tokens from 1.` };
  const odd = Object.entries(answers).find(([, value]) => isGiven(value) && !isCount(value));
  if (odd !== undefined) return { problem: `${odd[0]} is a whole number from 1.` };
  const more = Object.entries(answers).find(([, value]) => isGiven(value) && value !== 1);
  if (more !== undefined && !several)
    return { problem: `${more[0]} can't be more than 1 in a run: send one request for each answer.` };
  const most = limits.map(([, value]) => (isCount(value) ? value : unlimitedOutputTokens));
  const each = most.length === 0 ? unlimitedOutputTokens : Math.max(...most);
  const number = Math.max(1, ...Object.values(answers).filter(isCount));
  return Math.min(each * number, mostOutputTokens);
}

/** Local servers understand this number as no limit. */
const noMaximum = -1;

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1;
}
