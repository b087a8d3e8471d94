import { isTimeLike } from '../../search/metric-names.ts';
import type { Attempt } from '../../search/search-tree.ts';
import type { Trials, Version } from '../trial.ts';
import { findContract } from './contract.ts';
import { type Filling, fulfil, maxSeconds } from './fulfil.ts';
import { canHoldOut } from './held-out.ts';

/**
 * Writes a model in place of a starter that is of no use.
 * @param silentFor how long it takes, if it works, but prints no score
 */
export async function replaceUseless(
  trials: Trials,
  starter: Attempt,
  why: string,
  silentFor?: number,
): Promise<Filling> {
  const { workspace } = trials;
  workspace.note({ Observed: `The starter is of no use as it is: ${why}.` });
  const contract = await findContract(workspace, 'To write the missing model');
  if ('problem' in contract)
    return notFilled(trials, `I write no model: ${contract.problem}`, contract.problem);
  return await fulfil(trials, contract, {
    ...{ seconds: Math.min(workspace.budget.seconds_left * shareOfTime, maxSeconds), noise: 0 },
    ...{ parent: starter, silentFor },
    change: (models) => `a model of ${models} in place of the starter, which was of no use`,
  });
}

/**
 * Writes automl's model in place of a starter that works. It is kept only if its validation score, by
 * cross-validation, is better than what the starter printed by more than `noise` (in the unit of the metric) and its
 * submission is accepted. The two scores are from different rows: the caller must compare the two again.
 */
export async function replaceModel(trials: Trials, starter: Version, noise: number): Promise<Filling> {
  const { workspace } = trials;
  const { metric, entry } = workspace.task;
  const { line, short, seconds } = starter.measured;
  const stay = (why: string) => notFilled(trials, `I keep the starter's model: ${why}.`, why);
  if (isTimeLike(metric)) return stay('a time is measured, not predictions');
  // The caller runs both again to compare them.
  const left = workspace.budget.seconds_left - 2 * seconds;
  if (left * shareOfTime < minSeconds) return stay('too little time is left to write one of my own');
  const contract = await findContract(workspace, "To write a model of my own beside the starter's");
  if ('problem' in contract) return stay(contract.problem);
  if (!contract.is_measured && !canHoldOut(contract))
    return stay(`I can't compute the ${metric.name} of one of my own`);
  if (short && !canHoldOut(contract))
    return stay(`it does not print the ${metric.name} by its name, so the two could not be compared`);
  workspace.note({
    Observed:
      `The starter printed "${line}", on rows that it held out itself. My own model is measured by ` +
      `cross-validation on the rows to learn from, so the two scores are near each other, but not of the same rows.`,
  });
  return await fulfil(trials, contract, {
    ...{ seconds: Math.min(left * shareOfTime, maxSeconds), parent: starter, noise },
    change: (models) => `a model of my own (${models}) in ${entry} in place of the starter's`,
  });
}

function notFilled({ workspace }: Trials, decision: string, why: string): Filling {
  workspace.note({ Decision: decision });
  return { kind: 'not filled', why };
}

/** The share of the remaining time for a script that was written. */
const shareOfTime = 0.55;
const minSeconds = 6;
