import type { RunEvaluation } from '../../schema/index.ts';
import type { ReportSettings } from './options.ts';
import { type PairData, pairOf } from './pairs.ts';
import { factsOf, type RunFacts } from './run-facts.ts';

/** Evaluations in an order that does not depend on their input order. */
export function inOrder(evaluations: readonly RunEvaluation[]): RunEvaluation[] {
  const keyed = evaluations.map((evaluation) => {
    const { task, agent, experiment, seed, run } = evaluation;
    return { evaluation, key: [task, agent, experiment, seed, run] as const };
  });
  keyed.sort((one, other) => {
    for (const [index, part] of one.key.entries()) {
      const same = other.key[index] ?? '';
      if (part !== same) return part < same ? -1 : 1;
    }
    // Copies of an experiment under the same name, with other content.
    const [text, otherText] = [JSON.stringify(one.evaluation), JSON.stringify(other.evaluation)];
    return Number(text > otherText) - Number(text < otherText);
  });
  return keyed.map(({ evaluation }) => evaluation);
}

/**
 * The data of each task–agent pair, by task, then agent.
 * @param evaluations as ordered by `inOrder`
 */
export function pairsOf(evaluations: readonly RunEvaluation[], settings: ReportSettings): PairData[] {
  return groupsOf(evaluations, settings).flatMap((runs) => {
    const [first] = runs;
    if (first === undefined) return [];
    const { task, agent } = first.evaluation;
    return [pairOf(runs, task, agent)];
  });
}

/**
 * The runs of each task and agent.
 * @param evaluations as ordered by `inOrder`
 */
export function groupsOf(evaluations: readonly RunEvaluation[], settings: ReportSettings): RunFacts[][] {
  const groups = Map.groupBy(evaluations, ({ task, agent }) => JSON.stringify([task, agent]));
  return [...groups.values()].map((group) => group.map((evaluation) => factsOf(evaluation, settings)));
}
