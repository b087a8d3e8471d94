import { type AgentComparison, ComparedMeasure } from '../../schema/index.ts';
import { corrected, differenceIn, exchangesFor, type MatchedPair } from './differences.ts';
import type { ReportSettings } from './options.ts';
import type { PairData } from './pairs.ts';

/** Every pair of agents, on the tasks for which both have runs that count. */
export function comparisonsOf(
  pairs: readonly PairData[],
  agents: readonly string[],
  settings: ReportSettings,
): AgentComparison[] {
  const [first, second] = settings.direction ?? [];
  const matched = agents.flatMap((one, index) =>
    agents.slice(index + 1).map((other) => {
      const [a, b] = one === second && other === first ? [other, one] : [one, other];
      return { a, b, common: commonPairs(pairs, a, b) };
    }),
  );
  const compared = matched.filter(({ common }) => common.length > 0);
  const comparisons: AgentComparison[] = compared.map(({ a, b, common }) => ({
    ...{ a, b, tasks: common.map((pair) => pair.a.task), differences: {} },
  }));
  const exchanges = exchangesFor(compared.length, settings);
  for (const measure of ComparedMeasure.options) {
    const differences = compared.map(({ common }) => differenceIn(measure, common, exchanges));
    corrected(differences).forEach((difference, index) => {
      const comparison = comparisons[index];
      if (difference !== null && comparison !== undefined) comparison.differences[measure] = difference;
    });
  }
  return comparisons;
}

function commonPairs(pairs: readonly PairData[], a: string, b: string): MatchedPair[] {
  const counted = pairs.filter(({ inRate }) => inRate.length > 0);
  const ofB = new Map(counted.filter(({ agent }) => agent === b).map((pair) => [pair.task, pair]));
  return counted
    .filter(({ agent }) => agent === a)
    .flatMap((pair) => {
      const other = ofB.get(pair.task);
      return other === undefined ? [] : [{ a: pair, b: other }];
    });
}
