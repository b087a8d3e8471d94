import type { Workspace } from '../../common/workspace.ts';
import { told as toldGain } from '../../search/held-out-rows.ts';
import { isTimeLike } from '../../search/metric-names.ts';
import { checkSubmission } from '../finish.ts';
import { Pace } from '../pace.ts';
import type { ScoresOfOwn } from '../study.ts';
import { type TrialOutcome, type TrialRunner, told } from '../trial.ts';
import { type Contract, describeModel, findContract, modelScript, usesNetwork } from './contract.ts';
import { canHoldOut, gainOnHeldOut } from './held-out.ts';
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

type Measured = TrialOutcome & { kind: 'measured' };
export type Filling = Filled | { kind: 'not filled'; why: string };

/** A script, and how its run ended. */
interface Run {
  source: string;
  outcome: TrialOutcome;
}

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
  const filling =
    'problem' in contract
      ? notFilled(workspace, `I write no model: ${contract.problem}`, contract.problem)
      : await fulfil(workspace, runner, contract, {
          seconds: Math.min(workspace.budget.seconds_left * 0.4, maxSeconds(contract)),
          starter,
          noise: 0,
          sentence: (models, line) =>
            `The starter was of no use; I wrote a model of ${models}, which printed "${line}".`,
        });
  return await elsePutBack(workspace, runner, starter, filling);
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
  starter: Run & { outcome: Measured },
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
  const filling = await fulfil(workspace, runner, contract, {
    seconds: Math.min(left * share, maxSeconds(contract)),
    starter,
    noise,
    sentence: (models, line) =>
      `a model of my own (${models}; it printed "${line}") in ${entry} in place of the starter's`,
  });
  return await elsePutBack(workspace, runner, starter, filling);
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
  const goal: Goal = {
    seconds: Math.min(shareOfRest * left, maxSeconds(contract)),
    starter: { source, outcome },
    noise,
    sentence: (models, line) => `the same with more time (${models}; it printed "${line}")`,
  };
  const filling = await fulfil(workspace, runner, { ...contract, members }, goal);
  const after = await elsePutBack(workspace, runner, goal.starter, filling);
  return after.kind === 'filled' ? { ...after, scores } : after;
}

/** To check, to put the first one back and to answer. */
const slack = 8;
/** To write, run, check and settle it, or to put the first one back (3), and to check and answer (2). */
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

/** More time hardly helps; only a network can use it. */
function maxSeconds(contract: Contract): number {
  return usesNetwork(contract) ? 900 : 150;
}

async function elsePutBack(
  workspace: Workspace,
  runner: TrialRunner,
  { source, outcome }: Run,
  filling: Filling,
): Promise<Filling> {
  if (filling.kind === 'not filled' && !workspace.ended && !runner.isInPlace(source)) {
    // The submission of a working starter must come from the last script that ran.
    if ((await runner.putBack(source)) !== null) return filling;
    await (outcome.kind === 'measured' ? runner.run(source) : runner.write(source));
  }
  return filling;
}

interface Goal {
  /** The script may take this much time. */
  seconds: number;
  starter: Run;
  /** By how much the starter's score must be beaten. */
  noise: number;
  /** For the final answer. */
  sentence: (models: string, line: string) => string;
}

/** Writes a script that fulfils a contract and runs it; filled if it reaches the goal and its submission is accepted. */
async function fulfil(
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
  const isUseful = problem === null && outcome.kind === 'measured';
  const settled = isUseful ? settledScript(source, outcome.printed) : source;
  runner.attempts.add({
    ...{ source: settled, from: goal.starter.source, operator: 'model', change: describeModel(contract) },
    ...{ outcome, isKept: problem === null, why: problem ?? told(outcome) },
  });
  if (problem !== null) return { kind: 'not filled', why: problem };
  await runner.rename(settled);
  if (outcome.kind === 'failed') {
    const sentence = goal.sentence(describeModel(contract), outcome.why);
    return { kind: 'filled', source, outcome, contract, sentence, scores: 'comparable' };
  }
  const isStricter = /^honest folds: /m.test(outcome.printed);
  const models = membersIn(outcome.printed).join(', ') || describeModel(contract);
  return {
    kind: 'filled',
    source: settled,
    outcome,
    contract,
    sentence: goal.sentence(models, outcome.line) + (isIncomparable ? byHeldOut : ''),
    scores: isIncomparable ? 'incomparable' : isStricter ? 'stricter' : 'comparable',
  };
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
    const isBetter = (than: Measured) => than.short !== true && sign * (outcome.score - than.score) > noise;
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

/** Between two values of about the same size, probably of the same metric, chance does not make such a difference. */
const farBetter = { share: 0.15, mostTimes: 3 };

/** Whether the printed score of a model is far better than one that may be of another metric, but hardly is. */
function isFarBetter({ task }: Workspace, starter: TrialOutcome, model: TrialOutcome): boolean {
  if (starter.kind === 'failed' || model.kind === 'failed') return false;
  const [before, after] = [starter.score, model.score];
  const gain = (task.metric.direction === 'maximize' ? after - before : before - after) / Math.abs(before);
  const times = Math.max(after / before, before / after);
  return starter.short === true && gain > farBetter.share && times < farBetter.mostTimes;
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
  if (found === null) return isFarBetter(workspace, starter.outcome, model.outcome);
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
function isComparable(outcome: TrialOutcome): outcome is Measured {
  return outcome.kind === 'measured' && outcome.other !== true;
}

function notFilled(workspace: Workspace, decision: string, why: string): Filling {
  workspace.note({ Decision: decision });
  return { kind: 'not filled', why };
}
