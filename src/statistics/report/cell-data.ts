import type { RunEvaluation, TaskId, Yardstick } from '../../schema/index.ts';
import { type CellData, cellOf } from './cells.ts';
import type { Settings } from './options.ts';
import { factsOf } from './run-facts.ts';

/** Evaluations in an order that does not depend on how they came. */
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

/** One cell for each task and agent, by task, then agent. @param evaluations as `inOrder` leaves them */
export function cellsOf(evaluations: readonly RunEvaluation[], settings: Settings): CellData[] {
  const yardsticks = new Map<TaskId, Yardstick>();
  for (const { task, yardstick } of evaluations) {
    if (yardstick !== null && !yardsticks.has(task)) yardsticks.set(task, yardstick);
  }
  const groups = Map.groupBy(evaluations, ({ task, agent }) => JSON.stringify([task, agent]));
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const yardstick = yardsticks.get(first.task) ?? null;
    const runs = group.map((evaluation) => factsOf(evaluation, yardstick, settings));
    return [cellOf(runs, first.task, first.agent, settings)];
  });
}
