import type { Workspace } from '../../common/workspace.ts';
import { told as toldGain } from '../../search/held-out-rows.ts';
import { checkSubmission } from '../finish.ts';
import { Pace } from '../pace.ts';
import type { ScoresOfOwn } from '../study.ts';
import { type MeasuredTrial, type TrialOutcome, type TrialRunner, told } from '../trial.ts';
import { type Contract, describeModel, modelScript, usesNetwork } from './contract.ts';
import { gainOnHeldOut } from './held-out.ts';
import { membersIn, settledScript } from './settled.ts';

/** A replacement of the starter: it ran, and its submission is accepted. */
export interface Filled {
  kind: 'filled';
  source: string;
  outcome: TrialOutcome;
  contract: Contract;
  /** For the final answer. */
  sentence: string;
  scores: ScoresOfOwn;
}

export type Filling = Filled | { kind: 'not filled'; why: string };

/** A script, and how its run ended. */
export interface Run {
  source: string;
  outcome: TrialOutcome;
}

/** More time hardly helps; only a network can use it. */
export function maxSeconds(contract: Contract): number {
  return usesNetwork(contract) ? 900 : 150;
}

export interface Goal {
  /** The script may take this much time. */
  seconds: number;
  starter: Run;
  /** By how much the starter's score must be beaten. */
  noise: number;
  /** For the final answer. */
  sentence: (models: string, line: string) => string;
}

/**
 * Writes a script that fulfils a contract and runs it; filled if it reaches the goal and its submission is accepted. If
 * not, the starter is put back as before.
 */
export async function fulfil(
  workspace: Workspace,
  runner: TrialRunner,
  contract: Contract,
  goal: Goal,
): Promise<Filling> {
  announce(workspace, contract, goal);
  const source = modelScript(contract, goal.seconds);
  const { source: before, outcome: begun } = goal.starter;
  // Afterwards there must be time to put the starter back.
  const lastRun = begun.kind === 'failed' || runner.keeps(before) ? 2 : begun.seconds;
  const limit = new Pace(workspace).limitOf(goal.seconds, lastRun);
  const outcome = onlyOwnMetric(await runner.run(source, limit), workspace.task.metric.name);
  const { problem, isIncomparable } = await judge(workspace, runner, contract, { source, outcome }, goal);
  const printed = outcome.kind === 'measured' ? outcome.printed : '';
  const settled = problem === null ? settledScript(source, printed) : source;
  runner.attempts.add({
    ...{ source: settled, from: before, operator: 'model', change: describeModel(contract) },
    ...{ outcome, isKept: problem === null, why: problem ?? told(outcome) },
  });
  if (problem !== null) {
    await putBack(workspace, runner, goal.starter);
    return { kind: 'not filled', why: problem };
  }
  runner.rename(settled);
  const isStricter = /^honest folds: /m.test(printed);
  const models = membersIn(printed).join(', ') || describeModel(contract);
  return {
    ...{ kind: 'filled', source: settled, outcome, contract },
    sentence: goal.sentence(models, told(outcome)) + (isIncomparable ? byHeldOut : ''),
    scores: isIncomparable ? 'incomparable' : isStricter ? 'stricter' : 'comparable',
  };
}

async function putBack(workspace: Workspace, runner: TrialRunner, { source, outcome }: Run): Promise<void> {
  if (workspace.ended || runner.isInPlace(source) || (await runner.putBack(source)) !== null) return;
  // The submission of a working starter must come from the last script that ran.
  await (outcome.kind === 'measured' ? runner.run(source) : runner.write(source));
}

function announce(workspace: Workspace, contract: Contract, { seconds, starter, noise }: Goal): void {
  const { entry, metric } = workspace.task;
  const before = starter.outcome;
  const by = noise > 0 ? ` by more than ${Number(noise.toPrecision(3))}` : '';
  const goal = isComparable(before) && before.short !== true ? ` better than ${before.score}${by}` : '';
  workspace.note({
    Reason:
      'Models of different kinds err in different ways, so their blend is likely to be better than one.',
    Model: `${contract.kind}: ${describeModel(contract)}`,
    Change: `${entry}: ${describeModel(contract)}, measured on rows that were not learnt from.`,
    Prediction:
      `It prints a validation ${metric.name}${goal} after about ${Math.round(seconds)} s at most, ` +
      'and its submission is accepted.',
  });
}

/** Why a script is not kept, or null; and whether withheld rows decided that, and not the printed scores. */
async function judge(
  workspace: Workspace,
  runner: TrialRunner,
  contract: Contract,
  model: Run,
  { starter, noise }: Goal,
): Promise<{ problem: string | null; isIncomparable: boolean }> {
  const { outcome } = model;
  const before = starter.outcome;
  const line = told(outcome);
  let isIncomparable = false;
  const decide = (Decision: string, problem: string | null) => {
    workspace.note({ Observed: `${line} (${Math.round(outcome.seconds)} s).`, Decision });
    return { problem, isIncomparable };
  };
  if (outcome.kind === 'measured') {
    const sign = workspace.task.metric.direction === 'maximize' ? 1 : -1;
    const isBetter = (than: MeasuredTrial) =>
      than.short !== true && sign * (outcome.score - than.score) > noise;
    if (isComparable(before) && !isBetter(before)) {
      isIncomparable = await isBetterOnHeldOut(workspace, runner, contract, starter, model);
      if (!isIncomparable)
        return decide(
          'Not better than before by more than the noise: not kept.',
          `the model that I wrote is not better: ${line}`,
        );
    }
  } else if (outcome.silent !== true || contract.is_measured || before.kind === 'measured')
    return decide('A failure: not kept.', `the model that I wrote did not work: ${line}`);
  const { isRefused, sentence } = await checkSubmission(workspace);
  return decide(
    `${sentence} ${isRefused ? 'Not kept.' : 'Kept.'}`,
    isRefused ? 'the submission of the model that I wrote was refused' : null,
  );
}

/**
 * Whether the model is better than the starter on withheld rows. What the starter prints may be another metric, of another
 * unit, or of rows that it learnt by heart. False if there is too little time to find out.
 */
async function isBetterOnHeldOut(
  workspace: Workspace,
  runner: TrialRunner,
  contract: Contract,
  starter: Run,
  model: Run,
): Promise<boolean> {
  const found = await gainOnHeldOut(workspace, runner, contract, model, starter);
  if (found === null) return false;
  workspace.note({
    Observed:
      'problem' in found
        ? `I could not measure both on rows that I withhold from them: ${found.problem}.`
        : `On rows that I withhold from both, my model gains ${toldGain(found)} over the starter.`,
  });
  return !('problem' in found) && found.gain > found.error;
}

const byHeldOut = '; it is better on rows withheld from both';

/** A script of automl's own that prints another metric than the task's counts as not measured. */
function onlyOwnMetric(outcome: TrialOutcome, metric: string): TrialOutcome {
  if (outcome.kind === 'failed' || outcome.other !== true) return outcome;
  const why = `the script printed no ${metric} that I can read`;
  return { kind: 'failed', why, seconds: outcome.seconds, timedOut: false, silent: true };
}

/** Whether an outcome is a score that another model must beat: one of the task's own metric. */
function isComparable(outcome: TrialOutcome): outcome is MeasuredTrial {
  return outcome.kind === 'measured' && outcome.other !== true;
}

export function notFilled(workspace: Workspace, decision: string, why: string): Filling {
  workspace.note({ Decision: decision });
  return { kind: 'not filled', why };
}
