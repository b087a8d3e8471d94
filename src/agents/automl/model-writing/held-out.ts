import { z } from 'zod';
import { Workspace } from '../../common/workspace.ts';
import type { BranchView } from '../../search/branch-view.ts';
import type { Compared, HeldOut, HoldOut } from '../../search/held-out-rows.ts';
import type { Contract } from './contract.ts';
import { findContract } from './fill.ts';
import { pythonScript, readPrinted, type Setting } from './python-file.ts';

/** The output of `python/automl/held_out.py`. */
const Printed = z.union([
  z.object({ problem: z.string() }),
  z.object({ answers: z.string(), gain: z.object({ gain: z.number(), error: z.number() }).nullable() }),
]);
const program = 'measure_held_out.py';

/**
 * Withholds rows of tables whose metric can be computed here. A version runs in a copy of the workspace, whose `data/`
 * has these rows as the rows to predict, and no longer scores itself. Data of other kinds can't be withheld.
 */
export const holdOutRows: HoldOut = async (view) => {
  const aim = 'To measure versions on rows that they have not seen,';
  const contract = await findContract(new Workspace(view), aim);
  if ('problem' in contract) return contract;
  if (contract.kind !== 'table') return { problem: 'the data is not a table' };
  if (!contract.is_measured) return { problem: `I can't compute the ${view.task.metric.name}` };
  const { entry } = view.task;
  const perform = async (branch: BranchView, script: string) => {
    const workspace = new Workspace(branch);
    await workspace.writeFile(program, script);
    return await workspace.executeScript(program);
  };
  return {
    async measure(branch, what) {
      const seconds = Math.max(1, Math.floor(branch.budget.seconds_left) - 1);
      const done = await perform(branch, heldOutScript(contract, entry, { ...what, seconds }));
      return readHeldOut(done.observation) ?? { problem: `measuring it ended as ${done.status}` };
    },
    async submission(branch) {
      const { observation } = await perform(branch, averagingScript(contract));
      return /^SUBMISSION (\S+)$/m.exec(observation)?.[1] ?? null;
    },
    async average(branch, others) {
      const { status } = await perform(branch, averagingScript(contract, others));
      return status === 'ok' && (await new Workspace(branch).validateSubmission()).status === 'ok';
    },
  };
};

/** What is to be predicted, where it is written, and how it is scored. */
const ofAnswers = [
  ...['TEST', 'SUBMISSION', 'ID', 'TARGETS', 'COLUMNS', 'CLASS_COLUMNS', 'CLASSIFIES'],
  ...['WRITES_PROBABILITY', 'ROUNDS_TO_WHOLE', 'METRIC', 'UNIT'],
];

function settingsOf({ settings }: Contract, names: readonly string[]): Record<string, Setting> {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => names.includes(name)));
}

/** The program that measures the version in the workspace on one part of the rows; only for tables. */
export function heldOutScript(
  contract: Contract,
  entry: string,
  { part, other, members = [], seconds }: Compared & { seconds: number },
): string {
  return pythonScript(
    ['settings', 'data', 'scores', 'formats', 'table', 'held_out'],
    {
      ...settingsOf(contract, [...ofAnswers, 'TRAIN', 'ANSWERS']),
      ...{ ENTRY: entry, PART: part, OTHER: other, TOGETHER: members, SECONDS: seconds },
    },
    'measure()',
  );
}

/** The program that averages the submission in the workspace with others; without others, it passes it on. */
export function averagingScript(contract: Contract, others: readonly string[] = []): string {
  const settings = { ...settingsOf(contract, ofAnswers), OTHERS: others };
  return pythonScript(['settings', 'average'], settings, others.length === 0 ? 'tell()' : 'average()');
}

/** Reads the output of `heldOutScript`; null if it ended before it printed, or if its output was cut. */
export function readHeldOut(printed: string): HeldOut | { problem: string } | null {
  return readPrinted('HELD OUT', Printed, printed);
}
