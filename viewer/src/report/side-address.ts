import { experimentAddress } from '../addresses.ts';
import { filterAddress } from './use-run-query.ts';

/** What a comparison compares: two experiments, or two agents of one. */
export interface ComparedNames {
  experiment: string | null;
  a: string;
  b: string;
}

/**
 * The address of one side's runs on a task.
 * @param agent null: the sides are agents themselves, or experiments without a common agent
 */
export function sideAddress(
  compared: ComparedNames,
  side: 'a' | 'b',
  task: string,
  agent: string | null,
): string {
  const { experiment, [side]: name } = compared;
  const one = agent ?? (experiment === null ? null : name);
  return `${experimentAddress(experiment ?? name)}${filterAddress(one === null ? { task } : { task, agent: one })}`;
}
