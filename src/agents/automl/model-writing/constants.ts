import type { Workspace } from '../../common/workspace.ts';
import { checkSubmission } from '../finish.ts';
import type { TrialRunner } from '../trial.ts';
import { askedTable, testPath } from './contract.ts';
import type { CsvFile } from './sources.ts';

/**
 * Submits the same values for every row if nothing else could be done, because an invalid submission counts for
 * nothing. Returns a sentence about it; null if no table is asked for, too little of the budget is left, or this does
 * not help either: then the starter is put back.
 */
export async function submitConstants(
  workspace: Workspace,
  runner: TrialRunner,
  starter: string,
): Promise<string | null> {
  const file = askedTable(workspace.task);
  if (file === null || workspace.ended || workspace.budget.steps_left < 4) return null;
  workspace.note({
    Reason:
      'Neither the starter nor a model of mine leaves a submission, and what is not valid counts for nothing.',
    Change: `${workspace.task.entry}: it writes the same value for every row.`,
  });
  await runner.run(constantScript(file));
  const { isRefused } = await checkSubmission(workspace);
  if (!isRefused) return 'I submitted the same value for every row.';
  await runner.write(starter);
  return null;
}

/** Python that writes one value per column for every id. */
export function constantScript(file: CsvFile): string {
  const header = [file.id.column, ...file.columns.map(({ name }) => name)];
  return `"""Writes the same value for every row, so that there is a valid submission."""

import csv
from pathlib import Path

with open(${JSON.stringify(testPath(file))}, newline="", encoding="utf-8-sig") as rows:
    ids = [row[${JSON.stringify(file.id.column)}] for row in csv.DictReader(rows)]
Path(${JSON.stringify(file.path)}).parent.mkdir(parents=True, exist_ok=True)
with open(${JSON.stringify(file.path)}, "w", newline="", encoding="utf-8") as submission:
    writer = csv.writer(submission)
    writer.writerow(${JSON.stringify(header)})
    writer.writerows([each, *${JSON.stringify(file.columns.map(constantOf))}] for each in ids)
`;
}

/** A range this wide says what is possible, not what is likely: then its end nearest to zero is the better guess. */
const widestRange = 1000;

/** A value that a column allows: the first listed one, or the middle of the range. */
function constantOf(column: CsvFile['columns'][number]): string | number {
  if (column.type === 'text') return column.values?.[0] ?? 'unknown';
  const { min, max } = column;
  const value = min === undefined || max === undefined ? (min ?? max ?? 0) : likely(min, max);
  return column.type === 'integer' ? Math.floor(value) : value;
}

function likely(min: number, max: number): number {
  return max - min > widestRange ? Math.min(Math.max(0, min), max) : (min + max) / 2;
}
