import { UserError } from '../lib/errors.ts';
import type { BranchId, Grade } from '../schema/index.ts';
import { type BranchReader, type Experiment, statusOf } from '../store/index.ts';
import { finalGrade, stepsText } from './branch-result.ts';
import { gradeText } from './grade-text.ts';
import { branchesOfRun } from './locate.ts';
import { counted, plain } from './table.ts';

/** The selected branch if none is named. */
export function branchNamed(name: string | undefined, { branches, selected }: BranchReader): BranchId {
  if (name === undefined) return selected;
  const found = branches.find(({ id }) => id === name);
  if (found !== undefined) return found.id;
  throw new UserError(
    'unknown_branch',
    `The run has no branch "${name}".`,
    `Its branches: ${branches.map(({ id }) => id).join(', ')}.`,
  );
}

/** What the limit counts: the steps of all branches. */
export function usedSteps({ branches, selected }: BranchReader, count: number, shown: BranchId): string {
  const used = branches.reduce((sum, { steps }) => sum + steps, 0);
  const of = shown === selected ? 'the selected history' : `the history of ${shown}`;
  return `${counted(used, 'step')}${used === count ? '' : ` in ${branches.length} branches, ${count} of them in ${of}`}`;
}

/**
 * The grade of the last step of each branch, if that was graded. The last step of a branch without steps of its own is the
 * one that it was forked at, which belongs to another branch.
 */
export function lastGrades(tree: BranchReader, grades: readonly Grade[]): Map<BranchId, Grade> {
  const { branches } = tree;
  const forkedAt = new Map(branches.map(({ id, origin }) => [id, origin?.step ?? 0]));
  const graded = new Map(grades.map((grade) => [`${grade.branch ?? 'main'} ${grade.step}`, grade]));
  return new Map(
    branches.flatMap(({ id, lastStep }) => {
      const path = [...tree.lineage(id).keys()];
      const owner = path.find((branch) => (forkedAt.get(branch) ?? 0) < lastStep) ?? 'main';
      const grade = graded.get(`${owner} ${lastStep}`);
      return grade === undefined ? [] : [[id, grade]];
    }),
  );
}

/** The branches of a run that has more than one. */
export function branchLines(
  { branches, selected }: BranchReader,
  shown: BranchId,
  grades: ReadonlyMap<BranchId, Grade>,
): string[] {
  if (branches.length < 2) return [];
  const named = branches.filter(({ id, steps }) => steps > 0 || id === selected || id === shown);
  const others = branches.length - named.length;
  const lines = named.map(({ id, origin, steps }) => {
    const from = origin === null ? '' : `, forked from ${origin.branch} step ${origin.step}`;
    const grade = grades.get(id);
    const score = grade === undefined ? '' : gradeText(grade);
    const marks = [...(id === selected ? ['selected'] : []), ...(id === shown ? ['shown below'] : [])];
    const mark = marks.length === 0 ? '' : ` (${marks.join(', ')})`;
    return `branch ${id}${from}: ${counted(steps, 'step')}${score}${mark}`;
  });
  return others === 0 ? lines : [...lines, `${others} more without steps of their own`];
}

/** Branches that people began from a run. They are runs themselves, shown by their names. */
export function personsBranchLines(experiment: Experiment, run: string): string[] {
  return branchesOfRun(experiment, run).map(({ actor, run: { id, parent } }) => {
    const folder = experiment.runFolder(id);
    const record = folder.readRecord();
    const state = record?.end?.reason ?? statusOf(folder, record);
    const from = `${parent.run === run ? '' : `${parent.run} `}step ${parent.step}`;
    const grade = gradeText(finalGrade(experiment, id));
    return `branch ${id}, begun by ${plain(actor)} from ${from}: ${stepsText(record)}; ${state}${grade}`;
  });
}
