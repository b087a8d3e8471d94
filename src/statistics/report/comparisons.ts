import { type AgentComparison, ComparedMeasure } from '../../schema/index.ts';
import { Exchanges } from '../numeric/permutation.ts';
import type { CellData } from './cells.ts';
import { type CellPair, corrected, differenceIn } from './differences.ts';
import type { Settings } from './options.ts';

/** Every pair of agents, on the tasks for which both have runs that count. */
export function comparisonsOf(
  cells: readonly CellData[],
  agents: readonly string[],
  { resamples }: Settings,
): AgentComparison[] {
  const exchanges = new Exchanges(resamples);
  const pairs = agents.flatMap((a, index) =>
    agents.slice(index + 1).map((b) => ({ a, b, common: commonCells(cells, a, b) })),
  );
  const compared = pairs.filter(({ common }) => common.length > 0);
  const comparisons: AgentComparison[] = compared.map(({ a, b, common }) => ({
    ...{ a, b, tasks: common.map((pair) => pair.a.task), differences: {} },
  }));
  for (const measure of ComparedMeasure.options) {
    const differences = compared.map(({ common }) => differenceIn(measure, common, exchanges));
    corrected(differences).forEach((difference, index) => {
      const comparison = comparisons[index];
      if (difference !== null && comparison !== undefined) comparison.differences[measure] = difference;
    });
  }
  return comparisons;
}

function commonCells(cells: readonly CellData[], a: string, b: string): CellPair[] {
  const counted = cells.filter(({ inRate }) => inRate.length > 0);
  const ofB = new Map(counted.filter(({ agent }) => agent === b).map((cell) => [cell.task, cell]));
  return counted
    .filter(({ agent }) => agent === a)
    .flatMap((cell) => {
      const other = ofB.get(cell.task);
      return other === undefined ? [] : [{ a: cell, b: other }];
    });
}
