import type { Workspace } from '../../common/workspace.ts';
import { isTimeLike } from '../../search/metric-names.ts';
import { checkSubmission } from '../finish.ts';
import type { Outcome, TrialRunner } from '../trial.ts';
import { askedTable, type Contract, inferContract, testPath } from './contract.ts';
import { describeModel, modelScript } from './portfolio.ts';
import { dataSummaryScript } from './python-file.ts';
import { membersIn, settledScript } from './settled.ts';

/** To summarise the data (2), to write, run and check two scripts (6), to restore one (2), to check and answer (2). */
const stepsNeeded = 12;
const summaryScript = 'look_at_data.py';

/** A replacement of the starter: it ran, and its submission is accepted. */
export interface Filled {
  kind: 'filled';
  source: string;
  outcome: Outcome;
  /** For the final answer. */
  sentence: string;
  /**
   * Its folds separate rows in the way in which the rows to predict are separate. A starter that splits at random looks
   * better in comparison than it is.
   */
  isStricter: boolean;
}

export type Filling = Filled | { kind: 'not filled'; why: string };

/** The starter, and how its run ended. */
interface Starter {
  source: string;
  outcome: Outcome;
}

/**
 * Writes a model in place of a starter that is of no use: first a quick one that is submitted, then a blend of several,
 * which is kept if its validation score is better. If that fails, the starter is put back as before.
 */
export async function replaceUseless(
  workspace: Workspace,
  runner: TrialRunner,
  starter: Starter,
  why: string,
): Promise<Filling> {
  workspace.note({ Observed: `The starter is of no use as it is: ${why}.` });
  const contract = await findContract(workspace, 'To write the missing model');
  const filling =
    'problem' in contract
      ? notFilled(workspace, `I write no model: ${contract.problem}`, contract.problem)
      : await fillQuicklyFirst(new Attempts(workspace, runner, contract, 'useless starter'), starter.outcome);
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
  starter: Starter & { outcome: Outcome & { kind: 'measured' } },
  noise: number,
): Promise<Filling> {
  const { metric } = workspace.task;
  const stay = (why: string) => notFilled(workspace, `I keep the starter's model: ${why}.`, why);
  if (isTimeLike(metric)) return stay('a time is measured, not predictions');
  if (starter.outcome.short === true)
    return stay(`it does not print the ${metric.name} by its name, so the two could not be compared`);
  // The starter must be run once more afterwards, and the caller runs both again to compare them.
  const room = workspace.budget.seconds_left - 2 * starter.outcome.seconds;
  if (room * shareOfTime.pictures < minSeconds) return stay('too little time is left to write one of my own');
  const contract = await findContract(workspace, "To write a model of my own beside the starter's");
  if ('problem' in contract) return stay(contract.problem);
  const seconds = room * (arePictures(contract) ? shareOfTime.pictures : shareOfTime.others);
  workspace.note({
    Observed:
      `The starter printed "${starter.outcome.line}", on rows that it held out itself. My own model is measured by ` +
      `cross-validation on the rows to learn from, so the two scores are near each other, but not of the same rows.`,
  });
  await runner.keep(starter.source, starter.source);
  const attempts = new Attempts(workspace, runner, contract, 'starter');
  const goal = { outcome: starter.outcome, noise };
  let filling = await attempts.run('full', Math.min(seconds, maxSeconds(contract)), goal);
  // A single model may succeed where a blend failed.
  if (filling.kind === 'not filled' && attempts.lastFailed && attempts.affordsAnother(seconds))
    filling = await attempts.run('quick', seconds, goal);
  return await elsePutBack(workspace, runner, starter, filling);
}

/**
 * The share of the remaining time for a script that was written. A network on pictures leaves more for the starter,
 * which may have one, too.
 */
const shareOfTime = { pictures: 0.2, others: 0.4 };
const minSeconds = 6;

/** More time hardly helps; only a network can use it. */
function maxSeconds(contract: Contract): number {
  return arePictures(contract) ? 900 : 150;
}

function arePictures({ source }: Contract): boolean {
  return source.kind !== 'table' && source.arePictures;
}

/** Infers what there is to learn from the task and its data; takes two steps. `aim` begins a sentence of the notes. */
export async function findContract(
  workspace: Workspace,
  aim: string,
): Promise<Contract | { problem: string }> {
  const file = askedTable(workspace.task);
  if (file === null) return { problem: 'I write models only where one table is to be predicted' };
  if (workspace.budget.steps_left < stepsNeeded) return { problem: 'too few steps are left to write one' };
  workspace.note({ Reason: `${aim} I must know what there is to learn from, and with which packages.` });
  const settings = {
    TEST: testPath(file),
    ID: file.id.column,
    WANTED: file.columns.map(({ name }) => name),
  };
  await workspace.writeFile(summaryScript, dataSummaryScript(settings));
  const contract = inferContract(workspace.task, (await workspace.executeScript(summaryScript)).observation);
  if (!('problem' in contract)) workspace.note({ Plan: planOf(contract) });
  return contract;
}

async function fillQuicklyFirst(attempts: Attempts, starter: Outcome): Promise<Filling> {
  const left = attempts.secondsLeft;
  const before = { outcome: starter, noise: 0 };
  const quick = await attempts.run('quick', Math.min(0.15 * left, 60), before);
  const seconds = Math.min(attempts.secondsLeft * 0.4, maxSeconds(attempts.contract));
  if (quick.kind === 'not filled' || quick.outcome.kind === 'failed') return quick;
  if (!attempts.affordsAnother(seconds) || seconds < 2 * quick.outcome.seconds) return quick;
  const better = await attempts.run('full', seconds, { outcome: quick.outcome, noise: 0 });
  return better.kind === 'filled' ? better : await attempts.goBack(quick);
}

async function elsePutBack(
  workspace: Workspace,
  runner: TrialRunner,
  { source, outcome }: Starter,
  filling: Filling,
): Promise<Filling> {
  if (filling.kind === 'not filled' && !workspace.ended && !runner.isInPlace(source)) {
    // The submission of a working starter must come from the last script that ran.
    if ((await runner.putBack(source)) !== null) return filling;
    await (outcome.kind === 'measured' ? runner.run(source) : runner.write(source));
  }
  return filling;
}

/** The outcome to beat, and by how much. */
interface Goal {
  outcome: Outcome;
  noise: number;
}

/** Writes scripts that fulfil one contract, runs them and judges them. */
class Attempts {
  readonly #workspace: Workspace;
  readonly #runner: TrialRunner;
  readonly contract: Contract;
  readonly #place: 'useless starter' | 'starter';
  lastFailed = false;

  constructor(
    workspace: Workspace,
    runner: TrialRunner,
    contract: Contract,
    place: 'useless starter' | 'starter',
  ) {
    this.#workspace = workspace;
    this.#runner = runner;
    this.contract = contract;
    this.#place = place;
  }

  get secondsLeft(): number {
    return this.#workspace.budget.seconds_left;
  }

  /** Whether there is time for another script, for a second run of the previous one, and for the answer. */
  affordsAnother(seconds: number): boolean {
    const { steps_left, seconds_left } = this.#workspace.budget;
    return !this.#workspace.ended && steps_left >= 8 && seconds * 2 <= seconds_left;
  }

  /**
   * Runs a script that may take this much time; filled if it is better than the goal and its submission is accepted.
   */
  async run(size: 'quick' | 'full', seconds: number, goal: Goal): Promise<Filling> {
    const { entry, metric } = this.#workspace.task;
    const source = modelScript(this.contract, size, seconds, metric.name);
    this.#announce(size, seconds, goal);
    const outcome = onlyOwnMetric(await this.#runner.run(source), metric.name);
    const problem = await this.#judge(outcome, goal);
    if (problem !== null) return { kind: 'not filled', why: problem };
    const blended = outcome.kind === 'measured' ? membersIn(outcome.printed).join(', ') : '';
    const models = blended === '' ? describeModel(this.contract, size) : blended;
    const line = outcome.kind === 'measured' ? outcome.line : outcome.why;
    const sentence =
      this.#place === 'useless starter'
        ? `The starter was of no use; I wrote a model of ${models}, which printed "${line}".`
        : `a model of my own (${models}; it printed "${line}") in ${entry} in place of the starter's`;
    const isStricter = outcome.kind === 'measured' && /^honest folds: /m.test(outcome.printed);
    if (outcome.kind === 'failed') return { kind: 'filled', source, outcome, sentence, isStricter };
    const settled = settledScript(source, outcome.printed);
    this.#runner.rename(settled);
    return { kind: 'filled', source: settled, outcome, sentence, isStricter };
  }

  /** Runs the quick model again after another one was not better. */
  async goBack(quick: Filled): Promise<Filling> {
    if (this.#workspace.ended) return quick;
    const again = await this.#runner.run(quick.source);
    const line = again.kind === 'measured' ? `: ${again.line}` : '';
    this.#workspace.note({ Decision: `I go back to the quick model${line}.` });
    if (again.kind === 'measured') return { ...quick, outcome: again };
    const { name } = this.#workspace.task.metric;
    return { kind: 'not filled', why: `the model that was written printed no ${name} the second time` };
  }

  #announce(size: 'quick' | 'full', seconds: number, { outcome, noise }: Goal): void {
    const { entry, metric } = this.#workspace.task;
    const by = noise > 0 ? ` by more than ${Number(noise.toPrecision(3))}` : '';
    const goal = isComparable(outcome) ? ` better than ${outcome.score}${by}` : '';
    this.#workspace.note({
      Reason:
        size === 'quick'
          ? 'A quick model, so that there is a valid submission.'
          : 'Models of different kinds err in different ways, so their blend is likely to be better than one.',
      Model: `${this.contract.source.kind}: ${describeModel(this.contract, size)}`,
      Change: `${entry}: ${describeModel(this.contract, size)}, measured on rows that were not learnt from.`,
      Prediction:
        `It prints a validation ${metric.name}${goal} after about ${Math.round(seconds)} s at most, ` +
        'and its submission is accepted.',
    });
  }

  /** Why a script is not kept; null if it is kept. */
  async #judge(outcome: Outcome, { outcome: before, noise }: Goal): Promise<string | null> {
    const decide = (observed: string, decision: string) =>
      this.#workspace.note({
        Observed: `${observed} (${Math.round(outcome.seconds)} s).`,
        Decision: decision,
      });
    const isSilent = outcome.kind === 'failed' && outcome.silent === true && !this.contract.isMeasured;
    this.lastFailed = outcome.kind === 'failed' && !isSilent;
    if (this.lastFailed || (isSilent && before.kind === 'measured')) {
      const why = outcome.kind === 'failed' ? outcome.why : '';
      decide(why, 'A failure: not kept.');
      return `the model that I wrote did not work: ${why}`;
    }
    const line = outcome.kind === 'measured' ? outcome.line : outcome.why;
    if (outcome.kind === 'measured' && isComparable(before)) {
      const { direction } = this.#workspace.task.metric;
      const gain = (outcome.score - before.score) * (direction === 'maximize' ? 1 : -1);
      if (gain <= noise) {
        decide(line, 'Not better than before by more than the noise: not kept.');
        return `the model that I wrote is not better: ${line}`;
      }
    }
    const check = await checkSubmission(this.#workspace);
    decide(line, `${check.sentence} ${check.isRefused ? 'Not kept.' : 'Kept.'}`);
    return check.isRefused ? 'the submission of the model that I wrote was refused' : null;
  }
}

/** A script of automl's own that prints another metric than the task's counts as not measured. */
function onlyOwnMetric(outcome: Outcome, metric: string): Outcome {
  if (outcome.kind === 'failed' || outcome.other !== true) return outcome;
  const why = `the script printed no ${metric} that I can read`;
  return { kind: 'failed', why, seconds: outcome.seconds, timedOut: false, silent: true };
}

/** Whether an outcome is a score that another model must beat: one of the task's own metric. */
function isComparable(outcome: Outcome): outcome is Outcome & { kind: 'measured' } {
  return outcome.kind === 'measured' && outcome.other !== true;
}

function planOf(contract: Contract): string {
  const { source, test, targets, id, rows, classColumns, classifies, metric, epochs } = contract;
  const written =
    classColumns.length > 0
      ? `the probabilities of ${classColumns.length} classes`
      : contract.writesProbability
        ? 'its probability'
        : 'it';
  return (
    `Learn ${targets.join(', ')} (${classifies ? 'classes' : 'numbers'}) from ${rows} rows of ${placeOf(source)}; ` +
    `write ${written} for every ${id} of ${test}; choose by ${metric}` +
    `${contract.isMeasured ? '' : ", since I cannot compute the task's own metric"}` +
    `${epochs === null ? '' : `; see no row more than ${epochs} times`}.`
  );
}

function placeOf(source: Contract['source']): string {
  if (source.kind === 'table') {
    const { text, letters, number, name } = source.columns;
    return `${source.train} (columns: ${number} of numbers, ${name} of names, ${text} of texts, ${letters} of letters)`;
  }
  if (source.kind === 'arrays') return `${source.train.join(' ').trim()} (each ${source.shape.join(' x ')})`;
  return `${source.trainFolder} (files *${source.ending})`;
}

function notFilled(workspace: Workspace, decision: string, why: string): Filling {
  workspace.note({ Decision: decision });
  return { kind: 'not filled', why };
}
