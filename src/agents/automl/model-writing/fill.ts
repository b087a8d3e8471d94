import type { Workspace } from '../../common/workspace.ts';
import { isTimeLike } from '../../search/metric-names.ts';
import type { MeasuredTrial, TrialRunner } from '../trial.ts';
import { type Contract, findContract, usesNetwork } from './contract.ts';
import { type Filled, type Filling, fulfil, maxSeconds, notFilled, type Run } from './fulfil.ts';
import { canHoldOut } from './held-out.ts';
import { membersIn } from './settled.ts';

/**
 * Writes a model in place of a starter that is of no use. If that fails, the starter is put back as before.
 */
export async function replaceUseless(
  workspace: Workspace,
  runner: TrialRunner,
  starter: Run,
  why: string,
): Promise<Filling> {
  workspace.note({ Observed: `The starter is of no use as it is: ${why}.` });
  const contract = await findContract(workspace, 'To write the missing model');
  if ('problem' in contract)
    return notFilled(workspace, `I write no model: ${contract.problem}`, contract.problem);
  return await fulfil(workspace, runner, contract, {
    ...{ seconds: Math.min(workspace.budget.seconds_left * 0.4, maxSeconds(contract)), starter, noise: 0 },
    sentence: (models, line) =>
      `The starter was of no use; I wrote a model of ${models}, which printed "${line}".`,
  });
}

/**
 * Writes automl's model in place of a starter that works. It is kept only if its validation score, by
 * cross-validation, is better than what the starter printed by more than `noise` (in the unit of the metric) and its
 * submission is accepted; otherwise the starter is put back and run. The two scores are from different rows: the caller
 * must compare the two again.
 */
export async function replaceModel(
  workspace: Workspace,
  runner: TrialRunner,
  starter: Run & { outcome: MeasuredTrial },
  noise: number,
): Promise<Filling> {
  const { metric, entry } = workspace.task;
  const stay = (why: string) => notFilled(workspace, `I keep the starter's model: ${why}.`, why);
  if (isTimeLike(metric)) return stay('a time is measured, not predictions');
  // The starter must be run once more afterwards, and the caller runs both again to compare them.
  const left = workspace.budget.seconds_left - 2 * starter.outcome.seconds;
  if (left * shareOfTime.network < minSeconds) return stay('too little time is left to write one of my own');
  const contract = await findContract(workspace, "To write a model of my own beside the starter's");
  if ('problem' in contract) return stay(contract.problem);
  if (!contract.is_measured) return stay(`I can't compute the ${metric.name} of one of my own`);
  if (starter.outcome.short === true && !canHoldOut(contract))
    return stay(`it does not print the ${metric.name} by its name, so the two could not be compared`);
  workspace.note({
    Observed:
      `The starter printed "${starter.outcome.line}", on rows that it held out itself. My own model is measured by ` +
      `cross-validation on the rows to learn from, so the two scores are near each other, but not of the same rows.`,
  });
  await runner.keep(starter.source, starter.source);
  const share = usesNetwork(contract) ? shareOfTime.network : shareOfTime.others;
  return await fulfil(workspace, runner, contract, {
    ...{ seconds: Math.min(left * share, maxSeconds(contract)), starter, noise },
    sentence: (models, line) =>
      `a model of my own (${models}; it printed "${line}") in ${entry} in place of the starter's`,
  });
}

/**
 * Runs automl's own model again with the time that is left, if models, networks or epochs were left out of it for want of
 * time. Kept by the same rule; otherwise the model is put back as it was.
 */
export async function rerunModel(
  workspace: Workspace,
  runner: TrialRunner,
  own: Filled,
  noise: number,
): Promise<Filling | null> {
  const { contract, outcome, source, scores } = own;
  const { seconds_left, steps_left } = workspace.budget;
  const left = seconds_left - slack;
  if (outcome.kind === 'failed' || steps_left < stepsToRerun || !runner.keeps(source)) return null;
  const missing = leftOut(contract, outcome.printed);
  // Models that are of no use in the blend are not measured again.
  if (missing.length === 0 || left < (usesNetwork(contract) ? 1.5 : 0.75) * outcome.seconds) return null;
  workspace.note({ Observed: `For want of time, the model that I wrote lacks ${missing.join(', ')}.` });
  const chosen = membersIn(outcome.printed);
  const members = contract.members.filter((name) => chosen.includes(name) || missing.includes(name));
  const filling = await fulfil(
    workspace,
    runner,
    { ...contract, members },
    {
      ...{ seconds: Math.min(shareOfRest * left, maxSeconds(contract)), starter: { source, outcome }, noise },
      sentence: (models, line) => `the same with more time (${models}; it printed "${line}")`,
    },
  );
  return filling.kind === 'filled' ? { ...filling, scores } : filling;
}

/** To check, to put the first one back and to answer. */
const slack = 8;
/** To write, run and check it (3), to put the first one back (3), and to check and answer (2). */
const stepsToRerun = 8;
/** Of the time that is left; a script takes a little longer than it may. */
const shareOfRest = 0.75;

/** What a first run left out for want of time: models, or epochs of a network. */
function leftOut(contract: Contract, printed: string): string[] {
  if (!usesNetwork(contract))
    return [...printed.matchAll(/^(\w+): left out, for want of time$/gm)].map(([, name = '']) => name);
  const most = Number(contract.settings.MOST_PASSES);
  return Number(/^networks: .* epochs: (\d+)$/m.exec(printed)?.[1]) < most ? ['epochs'] : [];
}

/** The share of the remaining time for a script that was written. The starter may have a network, too. */
const shareOfTime = { network: 0.2, others: 0.4 };
const minSeconds = 6;
