import { told } from '../../search/held-out-rows.ts';
import type { Attempt, Measured } from '../../search/search-tree.ts';
import { failedRun, type TrialOutcome, toldOf } from '../../search/trial-outcome.ts';
import type { ScoresOfOwn } from '../study.ts';
import { measuredAs, type Trials } from '../trial.ts';
import { type Contract, describeModel, modelScript } from './contract.ts';
import { type Compares, gainOnHeldOut } from './held-out.ts';
import { membersIn, settledScript } from './settled.ts';

/** A model in place of the starter's: its script ran, its submission is accepted, and it is the best version. */
interface Filled {
  kind: 'filled';
  attempt: Attempt;
  scores: ScoresOfOwn;
}

export type Filling = Filled | { kind: 'not filled'; why: string };

/** More time hardly helps. */
export const maxSeconds = 150;

export interface Goal {
  /** The script may take this much time. */
  seconds: number;
  /** The version that it replaces. */
  parent: Attempt;
  /** By how much the parent's score must be beaten. */
  noise: number;
  /** How long the parent takes, if it prints no score, and its submission is there. */
  silentFor?: number | undefined;
  /** What it is, for the final answer. */
  change: (models: string) => string;
}

/**
 * Writes a script that fulfils a contract and runs it; it becomes the best version if it reaches the goal and its submission
 * is accepted.
 */
export async function fulfil(trials: Trials, contract: Contract, goal: Goal): Promise<Filling> {
  const { workspace, pace } = trials;
  announce(trials, contract, goal);
  const attempt = trials.begin('model', goal.parent, describeModel(contract));
  const source = modelScript(contract, goal.seconds);
  const ran = await trials.run(source, pace.limitOf(goal.seconds));
  const outcome = onlyOwnMetric(ran, workspace.task.metric.name);
  attempt.view = await trials.fork();
  const { problem, isIncomparable } = await judge(trials, contract, attempt, outcome, goal);
  const { printed } = outcome;
  attempt.measured = measuredAs(isIncomparable ? ran : outcome, settledScript(source, printed));
  const models = membersIn(printed).join(', ') || describeModel(contract);
  attempt.change = goal.change(models) + (isIncomparable ? byHeldOut : '');
  trials.finish(attempt, problem === null, problem ?? toldOf(outcome));
  if (problem !== null) return { kind: 'not filled', why: problem };
  trials.isAccepted = true;
  const isStricter = /^honest folds: /m.test(printed);
  const scores = isIncomparable ? 'incomparable' : isStricter ? 'stricter' : 'comparable';
  return { kind: 'filled', attempt, scores };
}

function announce({ workspace }: Trials, contract: Contract, { seconds, parent, noise }: Goal): void {
  const { entry, metric } = workspace.task;
  const before = comparable(parent);
  const by = noise > 0 ? ` by more than ${Number(noise.toPrecision(3))}` : '';
  const goal = before?.short === false ? ` better than ${before.score}${by}` : '';
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
  trials: Trials,
  contract: Contract,
  { view }: Attempt,
  outcome: TrialOutcome,
  { parent, noise, silentFor }: Goal,
): Promise<{ problem: string | null; isIncomparable: boolean }> {
  const { workspace } = trials;
  const before = comparable(parent);
  const line = toldOf(outcome);
  let isIncomparable = false;
  const decide = (Decision: string, problem: string | null) => {
    workspace.note({ Observed: `${line} (${Math.round(outcome.seconds)} s).`, Decision });
    return { problem, isIncomparable };
  };
  const isPrinted = outcome.kind === 'measured';
  if (
    !isPrinted &&
    (!outcome.silent || contract.is_measured || (before === null && parent.measured !== null))
  )
    return decide('A failure: not kept.', `the model that I wrote did not work: ${line}`);
  const sign = workspace.task.metric.direction === 'maximize' ? 1 : -1;
  const isBetter =
    isPrinted && (before === null || (!before.short && sign * (outcome.score - before.score) > noise));
  const seconds = parent.measured?.seconds ?? silentFor;
  if (seconds !== undefined && (!isBetter || parent.measured === null)) {
    const chosen = membersIn(outcome.printed);
    const members = chosen.length > 0 ? chosen : contract.members;
    const within = (most: number) => modelScript({ ...contract, members }, most);
    const model = { view, seconds: outcome.seconds, within };
    const gains = await gainsOnHeldOut(trials, contract, model, { view: parent.view, seconds });
    isIncomparable = gains === true;
    const isPoor = parent.measured !== null || /^no better than a constant$/m.test(outcome.printed);
    if (gains === false || (gains === null && isPoor))
      return decide(
        'Not better than before by more than the noise: not kept.',
        `the model that I wrote is not better: ${line}`,
      );
  }
  const isAccepted = await trials.check();
  return decide(
    isAccepted ? 'The submission passed the check: kept.' : 'The submission was refused: not kept.',
    isAccepted ? null : 'the submission of the model that I wrote was refused',
  );
}

/**
 * Whether the model is better than the starter on withheld rows. What the starter prints may be another metric, of another
 * unit, or of rows that it learnt by heart. Null if that can't be measured, or not in time.
 */
async function gainsOnHeldOut(
  { workspace }: Trials,
  contract: Contract,
  model: Compares,
  starter: Compares,
): Promise<boolean | null> {
  const found = await gainOnHeldOut(contract, workspace.budget, model, starter);
  if (found === null) return null;
  workspace.note({
    Observed:
      'problem' in found
        ? `I could not measure both on rows that I withhold from them: ${found.problem}.`
        : `On rows that I withhold from both, my model gains ${told(found)} over the starter.`,
  });
  return 'problem' in found ? null : found.gain > found.error;
}

const byHeldOut = '; it is better on rows withheld from both';

/** A script of automl's own that prints another metric than the task's counts as not measured. */
function onlyOwnMetric(outcome: TrialOutcome, metric: string): TrialOutcome {
  if (outcome.kind === 'failed' || !outcome.other) return outcome;
  const { seconds, printed } = outcome;
  return failedRun(`the script printed no ${metric} that I can read`, { seconds, printed, silent: true });
}

/** What was measured of a version if it is a score that another model must beat: one of the task's own metric. */
function comparable({ measured }: Attempt): Measured | null {
  return measured?.other === false ? measured : null;
}
