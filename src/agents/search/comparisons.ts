import { plainLine } from '../../lib/plain-line.ts';
import type { NoiseTest } from './noise-test.ts';
import { scoreOf } from './policies.ts';
import { type Attempt, lineage, measuredBase, type SearchTree } from './search-tree.ts';

/** Lines of the memory: the largest gains, the largest losses, the last failures. */
const most = { gains: 12, losses: 24, failures: 8 };

interface Compared {
  attempt: Attempt;
  base: Attempt;
  gain: number;
}

/**
 * What all branches learned so far: each version compared with the one that it was made from, a repaired one with the
 * last one on its path that ran. What had no effect is listed too, so that it is not tried again. The middle of a long
 * search is only counted, so that the memory does not grow without end.
 */
export function comparisons({ attempts }: SearchTree, noiseTest: NoiseTest): string {
  const measured = attempts
    .flatMap((attempt) => comparedWithBase(attempt, noiseTest))
    .sort((one, other) => other.gain - one.gain || one.attempt.id - other.attempt.id);
  const gains = measured.filter(({ gain }) => gain > 0);
  const losses = measured.filter(({ gain }) => gain <= 0);
  const failures = attempts.filter(
    ({ status, children }) => status === 'failed' && children.every(({ measured }) => measured === null),
  );
  const shown = [...gains.slice(0, most.gains), ...losses.slice(-most.losses)];
  const left = measured.length - shown.length + Math.max(0, failures.length - most.failures);
  return [
    ...shown.map((each) => lineOf(each, noiseTest)),
    ...failures.slice(-most.failures).map(failure),
    ...(left > 0 ? [`- ${left} more, with smaller effects or older failures`] : []),
  ].join('\n');
}

function comparedWithBase(attempt: Attempt, noiseTest: NoiseTest): Compared[] {
  const base = measuredBase(attempt);
  if (attempt.measured === null || base === undefined) return [];
  return [{ attempt, base, gain: noiseTest.gain(scoreOf(attempt), scoreOf(base)) }];
}

function lineOf({ attempt, base, gain }: Compared, noiseTest: NoiseTest): string {
  const { id, operator, measured } = attempt;
  const size = `${gain >= 0 ? '+' : '−'}${Number(Math.abs(gain).toPrecision(3))}`;
  const error =
    noiseTest.noise !== null && noiseTest.noise > 0
      ? ` ± ${Number((noiseTest.noise * Math.SQRT2).toPrecision(2))}`
      : '';
  const times = (measured?.seconds ?? 0) / Math.max(0.1, base.measured?.seconds ?? 0.1);
  const cost = times > 1.3 || times < 0.7 ? `, takes ${Number(times.toPrecision(2))} times as long` : '';
  return `- [${id}, ${operator} of ${base.id}] ${changesSince(base, attempt)}: ${size}${error}${cost}`;
}

/** What was changed between two versions: a repair alone says nothing about the idea that it repaired. */
function changesSince(base: Attempt, attempt: Attempt): string {
  const path = lineage(attempt);
  const changes = path.slice(0, path.indexOf(base)).toReversed();
  return changes.map(({ change }) => plainLine(change, Math.floor(200 / changes.length))).join('; ');
}

function failure({ id, operator, parent, change, why }: Attempt): string {
  return `- [${id}, ${operator} of ${parent?.id}] ${plainLine(change, 160)}: failed, ${plainLine(why, 160)}`;
}
