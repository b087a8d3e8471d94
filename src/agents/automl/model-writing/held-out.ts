import { z } from 'zod';
import { Workspace } from '../../common/workspace.ts';
import type { HeldOut, HoldOut } from '../../search/held-out-rows.ts';
import type { Contract } from './contract.ts';
import { findContract } from './fill.ts';
import { answerSettings } from './portfolio.ts';
import { pythonScript } from './python-file.ts';

/** The output of `python/automl/held_out.py`. */
const Printed = z.union([
  z.object({ problem: z.string() }),
  z.object({ answers: z.string(), gain: z.object({ gain: z.number(), error: z.number() }).nullable() }),
]);
const program = 'measure_held_out.py';
const mark = 'HELD OUT ';

/**
 * Withholds rows of tables whose metric can be computed here. A version runs in a copy of the workspace, whose `data/`
 * has these rows as the rows to predict, and no longer scores itself. Data of other kinds can't be withheld.
 */
export const holdOutRows: HoldOut = async (view) => {
  const aim = 'To measure versions on rows that they have not seen,';
  const contract = await findContract(new Workspace(view), aim);
  if ('problem' in contract) return contract;
  if (contract.source.kind !== 'table') return { problem: 'the data is not a table' };
  if (!contract.isMeasured) return { problem: `I can't compute the ${view.task.metric.name}` };
  return async (branch, part, other) => {
    const workspace = new Workspace(branch);
    const seconds = Math.max(1, Math.floor(branch.budget.seconds_left) - 1);
    await workspace.writeFile(program, heldOutScript(contract, view.task.entry, { part, other, seconds }));
    const { observation, status } = await workspace.executeScript(program);
    return readHeldOut(observation) ?? { problem: `measuring it ended as ${status}` };
  };
};

/** The program that measures the version in the workspace on one part of the rows; only for tables. */
export function heldOutScript(
  contract: Contract,
  entry: string,
  { part, other, seconds }: { part: number; other: string; seconds: number },
): string {
  const { source } = contract;
  if (source.kind !== 'table') throw new Error('only rows of tables can be withheld');
  return pythonScript(
    ['settings', 'data', 'scores', 'formats', 'table', 'held_out'],
    {
      ...answerSettings(contract),
      ...{ TRAIN: source.train, ANSWERS: source.answers, ENTRY: entry },
      ...{ PART: part, OTHER: other, SECONDS: seconds },
    },
    'measure()',
  );
}

export function readHeldOut(printed: string): HeldOut | { problem: string } | null {
  const line = printed.split('\n').findLast((each) => each.startsWith(mark));
  try {
    return Printed.parse(JSON.parse(line?.slice(mark.length) ?? ''));
  } catch {
    // It was ended before it printed, or its output was cut.
    return null;
  }
}
