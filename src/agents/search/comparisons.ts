import { plainLine } from '../../lib/plain-line.ts';
import type { NoiseTest } from './noise-test.ts';
import { scoreOf } from './policies.ts';
import type { Attempt, SearchTree } from './search-tree.ts';

/** Lines of the memory: the largest gains, the largest losses, the last failures. */
const most = { gains: 6, losses: 6, failures: 4 };

/**
 * What all branches learned so far: each version compared with the one that it was made from. The middle is left out,
 * and only counted, so that the memory does not grow with the search.
 */
export function comparisons({ attempts }: SearchTree, noiseTest: NoiseTest): string {
  const measured = attempts
    .filter(({ measured, parent }) => measured !== null && parent?.measured != null)
    .map((attempt) => ({
      attempt,
      gain: noiseTest.gain(scoreOf(attempt), scoreOf(attempt.parent ?? attempt)),
    }))
    .sort((one, other) => other.gain - one.gain || one.attempt.id - other.attempt.id);
  const gains = measured.filter(({ gain }) => gain > 0);
  const losses = measured.filter(({ gain }) => gain <= 0);
  const failures = attempts.filter(({ status }) => status === 'failed');
  const shown = [...gains.slice(0, most.gains), ...losses.slice(-most.losses)];
  const left = measured.length - shown.length + Math.max(0, failures.length - most.failures);
  return [
    ...shown.map(({ attempt, gain }) => compared(attempt, gain, noiseTest)),
    ...failures.slice(-most.failures).map(failure),
    ...(left > 0 ? [`- ${left} more, with smaller effects or older failures`] : []),
  ].join('\n');
}

function compared(
  { id, operator, parent, change, measured }: Attempt,
  gain: number,
  noiseTest: NoiseTest,
): string {
  const size = `${gain >= 0 ? '+' : '−'}${Number(Math.abs(gain).toPrecision(3))}`;
  const error =
    noiseTest.noise !== null && noiseTest.noise > 0
      ? ` ± ${Number((noiseTest.noise * Math.SQRT2).toPrecision(2))}`
      : '';
  const times = (measured?.seconds ?? 0) / Math.max(0.1, parent?.measured?.seconds ?? 0.1);
  const cost = times > 1.3 || times < 0.7 ? `, takes ${Number(times.toPrecision(2))} times as long` : '';
  return `- [${id}, ${operator} of ${parent?.id}] ${plainLine(change, 200)}: ${size}${error}${cost}`;
}

function failure({ id, operator, parent, change, why }: Attempt): string {
  return `- [${id}, ${operator} of ${parent?.id}] ${plainLine(change, 160)}: failed, ${plainLine(why, 160)}`;
}
