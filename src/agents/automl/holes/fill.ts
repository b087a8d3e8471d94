import type { Workspace } from '../../common/workspace.ts';
import { checkSubmission } from '../finish.ts';
import type { Outcome, TrialRunner } from '../trial.ts';
import { askedTable, inferContract, type TableContract, testPath } from './contract.ts';
import { blendsFor, quickMember, tableScript } from './portfolio.ts';
import { pythonFile } from './python-file.ts';

/** Look at the data (2), write, run and check two scripts (6), put one back (2), check and answer (2). */
const stepsNeeded = 12;
const lookScript = 'look_at_tables.py';

/** A script in place of the skeleton: it ran, and what it wrote is accepted. */
export interface Filled {
  kind: 'filled';
  source: string;
  outcome: Outcome;
  /** For the final answer. */
  sentence: string;
}

export type Filling = Filled | { kind: 'not filled'; why: string };

/**
 * Writes a model into a task whose starter lacks one: first a quick one that is handed in, then a blend of several,
 * which is kept if its validation score is better. Where that fails, the starter lies there as before.
 */
export async function fillHole(
  workspace: Workspace,
  runner: TrialRunner,
  starter: { source: string; outcome: Outcome },
  why: string,
): Promise<Filling> {
  const file = askedTable(workspace.task);
  workspace.note({ Observed: `The starter is unfinished: ${why}.` });
  if (file === null) return notFilled(workspace, 'I fill holes only where one table is to be predicted');
  if (workspace.budget.steps_left < stepsNeeded)
    return notFilled(workspace, 'too few steps are left to fill it');
  const printed = await lookAtTables(workspace, {
    TEST: testPath(file),
    ID: file.id.column,
    WANTED: file.columns.map(({ name }) => name),
  });
  const contract = inferContract(workspace.task, printed);
  const filling =
    'problem' in contract
      ? notFilled(workspace, contract.problem)
      : await fillTable(workspace, runner, contract, starter.outcome);
  if (filling.kind === 'not filled' && !workspace.ended) {
    // What a working starter had handed in must be from the last script that ran.
    await (starter.outcome.kind === 'measured' ? runner.run(starter.source) : runner.write(starter.source));
  }
  return filling;
}

async function lookAtTables(
  workspace: Workspace,
  settings: { TEST: string; ID: string; WANTED: string[] },
): Promise<string> {
  workspace.note({
    Reason: 'To write the missing model I must know what there is to learn from, and with which packages.',
  });
  await workspace.writeFile(lookScript, pythonFile('look.py', settings));
  return (await workspace.executeScript(lookScript)).observation;
}

async function fillTable(
  workspace: Workspace,
  runner: TrialRunner,
  contract: TableContract,
  starter: Outcome,
): Promise<Filling> {
  workspace.note({ Plan: planOf(contract) });
  const { name } = workspace.task.metric;
  const quick = await tryMembers(workspace, runner, contract, [quickMember(contract)], starter);
  if (quick.kind === 'not filled') return quick;
  const seconds = quick.outcome.seconds;
  const blend = blendsFor(contract).find(({ cost }) => cost * seconds * 2 <= workspace.budget.seconds_left);
  if (blend === undefined || quick.outcome.kind === 'failed' || workspace.budget.steps_left < 8) return quick;
  const better = await tryMembers(
    workspace,
    runner,
    contract,
    blend.members,
    quick.outcome,
    blend.cost * seconds,
  );
  if (better.kind === 'filled' || workspace.ended) return better.kind === 'filled' ? better : quick;
  const again = await runner.run(quick.source);
  workspace.note({
    Decision: `I go back to the quick model${again.kind === 'measured' ? `: ${again.line}` : ''}.`,
  });
  return again.kind === 'measured'
    ? { ...quick, outcome: again }
    : { kind: 'not filled', why: `the model that was written printed no ${name} the second time` };
}

/** Runs a script with these models; filled if it is better than what was before and its submission is accepted. */
async function tryMembers(
  workspace: Workspace,
  runner: TrialRunner,
  contract: TableContract,
  members: readonly string[],
  before: Outcome,
  expected?: number,
): Promise<Filling> {
  const { entry, metric } = workspace.task;
  const source = tableScript(contract, members, metric.name);
  const goal = before.kind === 'measured' ? ` better than ${before.score}` : '';
  workspace.note({
    Reason:
      members.length === 1
        ? 'A quick model first, so that something valid is handed in.'
        : 'Models of different kinds err in different ways, so their blend is likely to be better than one.',
    Model: `table: ${members.join(', ')}`,
    Change: `${entry}: ${members.join(', ')}, each measured by cross-validation on ${contract.train}.`,
    Prediction:
      `It prints a validation ${metric.name}${goal}` +
      `${expected === undefined ? '' : `, after ${Math.round(expected)} s at most`}, and its submission is accepted.`,
  });
  const outcome = await runner.run(source);
  const isSilent = outcome.kind === 'failed' && outcome.silent === true && !contract.isMeasured;
  const decide = (observed: string, decision: string) =>
    workspace.note({ Observed: `${observed} (${Math.round(outcome.seconds)} s).`, Decision: decision });
  if (outcome.kind === 'failed' && !isSilent) {
    decide(outcome.why, 'A failure: not kept.');
    return { kind: 'not filled', why: `the model that I wrote did not work: ${outcome.why}` };
  }
  const line = outcome.kind === 'measured' ? outcome.line : outcome.why;
  if (outcome.kind === 'measured' && before.kind === 'measured') {
    const gain = (outcome.score - before.score) * (metric.direction === 'maximize' ? 1 : -1);
    if (gain <= 0) {
      decide(line, 'Not better than before: not kept.');
      return { kind: 'not filled', why: `the model that I wrote is not better: ${line}` };
    }
  }
  const check = await checkSubmission(workspace);
  if (check.isRefused) {
    decide(line, `${check.sentence} Not kept.`);
    return { kind: 'not filled', why: `the submission of the model that I wrote was refused` };
  }
  decide(line, `${check.sentence} Kept.`);
  const sentence = `The starter lacked its model; I wrote one of ${members.join(', ')}, which printed "${line}".`;
  return { kind: 'filled', source, outcome, sentence };
}

function planOf(contract: TableContract): string {
  const { train, test, targets, id, shared, texts, rows, classColumns, classifies, metric } = contract;
  const written =
    classColumns.length > 0
      ? `the probabilities of ${classColumns.length} classes`
      : contract.writesProbability
        ? 'its probability'
        : 'it';
  return (
    `Learn ${targets.join(', ')} (${classifies ? 'classes' : 'numbers'}) from ${shared} columns, ${texts} of them ` +
    `texts, of the ${rows} rows of ${train}; write ${written} for every ${id} of ${test}; choose by ${metric}` +
    `${contract.isMeasured ? '' : ", since I cannot compute the task's own metric"}.`
  );
}

function notFilled(workspace: Workspace, why: string): Filling {
  workspace.note({ Decision: `I do not fill the hole: ${why}.` });
  return { kind: 'not filled', why };
}
