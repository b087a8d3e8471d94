import type { RunResult } from '../runs/index.ts';
import type { BranchPlan, Grade, RunRecord } from '../schema/index.ts';
import { currentGrades, decidedIn, type Experiment, recordedStates } from '../store/index.ts';
import { type Context, exitCodes, type VerbResult } from './context.ts';
import { gradeText } from './grade-text.ts';
import { counted, plain } from './table.ts';

/** The result of a branch, beside that of its run. */
export function branchResult(
  context: Context,
  experiment: Experiment,
  { run: { id, parent, roles } }: BranchPlan,
  results: readonly RunResult[],
): VerbResult {
  const { name } = experiment;
  const [result] = results;
  const record = experiment.runFolder(id).readRecord();
  const [own, before] = [finalGrade(experiment, id), finalGrade(experiment, parent.run)];
  const problem = result?.problem ?? null;
  const commands: [string, string][] = [
    [`runs show ${name}/${parent.run}`, 'the run with all its branches'],
    [`runs show ${name}/${id}`, 'every step of this one'],
    [`runs diff ${name}/${id} ${parent.step} last`, 'what it changed'],
    [`grade ${name}/${id} --steps all`, 'the hidden score of every step'],
  ];
  const further = commands.map(
    ([command, meaning]) => `  ${context.command} ${command}${context.placeFlags}   ${meaning}`,
  );
  const parts = [
    `${name}/${id}: a branch of ${parent.run} from step ${parent.step}\n` +
      `${record?.end?.reason ?? record?.status ?? 'not begun'} after ${stepsText(record)}${gradeText(own)}\n` +
      `${parent.run} itself keeps its result${gradeText(before)}\nReports do not count the branch.`,
    ...(problem === null
      ? []
      : [`Not finished or not graded: ${plain(problem)}\n${nextText(context, experiment, id)}`]),
    ...(roles !== undefined ? [] : [withoutModel]),
    further.join('\n'),
  ];
  return {
    text: parts.join('\n\n'),
    json: { experiment: name, branch: id, parent, record, grade: own, problem },
    exitCode: context.signal.aborted
      ? exitCodes.interrupted
      : problem === null
        ? exitCodes.ok
        : exitCodes.negative,
  };
}

function nextText({ command, placeFlags }: Context, experiment: Experiment, id: string): string {
  const folder = experiment.runFolder(id);
  const record = folder.readRecord();
  const waits = record?.status === 'waiting' && decidedIn(folder, record).length === 0;
  const decide = waits
    ? `Decide, for example: ${command} decide ${experiment.name}/${id} allow${placeFlags}\n`
    : '';
  return `${decide}The same command again resumes.`;
}

const withoutModel =
  'This agent calls no model: given the same results, it takes the same steps. Only what scripts print, and what\n' +
  'you decide with --approve, can differ.';

/** How many steps a branch took itself. */
export function stepsText(record: RunRecord | null): string {
  const steps = record?.steps ?? 0;
  const own = steps - (record?.shared?.steps ?? 0);
  return `${counted(steps, 'step')}, ${own} of its own`;
}

/** The grade of the final workspace of a run or a branch. */
export function finalGrade(experiment: Experiment, id: string): Grade | undefined {
  const folder = experiment.runFolder(id);
  return currentGrades(folder.readGrades().grades, recordedStates(folder)).findLast(({ final }) => final);
}
