import { z } from 'zod';
import type { Budget } from '../../../schema/index.ts';
import { Workspace } from '../../common/workspace.ts';
import type { Compared, Gain, HeldOut, HoldOut } from '../../search/held-out-rows.ts';
import type { Attempt } from '../../search/search-tree.ts';
import { type Contract, findContract } from './contract.ts';
import { pythonScript, readPrinted, type Setting } from './python-file.ts';

/** The output of `python/automl/held_out.py`. */
const Printed = z.union([
  z.object({ problem: z.string() }),
  z.object({ answers: z.string(), gain: z.object({ gain: z.number(), error: z.number() }).nullable() }),
]);
const program = 'measure_held_out.py';

/** `seconds`: the time limit of the version. */
type Measuring = Compared & { seconds: number };

/**
 * Withholds rows of tables whose metric can be computed here. A version runs in a copy of the workspace, whose `data/`
 * has these rows as the rows to predict, and no longer scores itself. Data of other kinds can't be withheld.
 */
export const holdOutRows: HoldOut = async (view) => {
  const aim = 'To measure versions on rows that they have not seen,';
  const contract = await findContract(new Workspace(view), aim);
  if ('problem' in contract) return contract;
  if (!contract.is_measured || !canHoldOut(contract))
    return { problem: 'no rows of a table of their own could be scored here' };
  return {
    async measure(branch, what) {
      const seconds = Math.max(1, Math.floor(branch.budget.seconds_left) - 1);
      return await measureHeldOut(new Workspace(branch), contract, { ...what, seconds });
    },
    async submission(branch) {
      const { observation } = await perform(new Workspace(branch), averagingScript(contract));
      return /^SUBMISSION (\S+)$/m.exec(observation)?.[1] ?? null;
    },
    async average(branch, others) {
      const workspace = new Workspace(branch);
      const { status } = await perform(workspace, averagingScript(contract, others));
      return status === 'ok' && (await workspace.validateSubmission()).status === 'ok';
    },
  };
};

async function perform(workspace: Workspace, script: string): ReturnType<Workspace['executeScript']> {
  await workspace.writeFile(program, script);
  return await workspace.executeScript(program);
}

async function measureHeldOut(
  workspace: Workspace,
  contract: Contract,
  what: Measuring,
): Promise<HeldOut | { problem: string }> {
  const done = await perform(workspace, heldOutScript(contract, workspace.task.entry, what));
  return readHeldOut(done.observation) ?? { problem: `measuring it ended as ${done.status}` };
}

/**
 * Whether rows can be withheld, as far as is known before it is tried: not if TEST is the table to learn from, too, or if
 * tables are not read as they are.
 */
export function canHoldOut({ kind, settings }: Contract): boolean {
  return kind === 'table' && !('TEST_IDS' in settings);
}

/** Two scripts are each measured by a program that is written first, one may be written anew; then one is answered with. */
const stepsToCompare = 9;
/** Without some rows, a script may take this many times as long as with all. */
const margin = 1.5;

/** A version that was run, with its branch; `within`: one of automl's own that takes so many seconds. */
export type Compares = Pick<Attempt, 'view'> & { seconds: number; within?: (seconds: number) => string };
/** One of automl's own takes a few seconds more than it may, to start and to end. */
const around = 4;
const leastSeconds = 5;

/**
 * By how much a version is better than another one on rows that are withheld from both. Null if that can't be measured in
 * half of the remaining time.
 */
export async function gainOnHeldOut(
  contract: Contract,
  { seconds_left, steps_left }: Budget,
  one: Compares,
  than: Compares,
): Promise<Gain | { problem: string } | null> {
  const wanted = ({ seconds }: Compares) => Math.ceil(margin * seconds) + 3;
  const most = Math.floor(seconds_left / 2) - wanted(than);
  const own = Math.floor(most / margin) - around;
  const isShortened = wanted(one) > most && one.within !== undefined && own >= leastSeconds;
  if (wanted(one) > most && !isShortened) return null;
  if (!canHoldOut(contract) || steps_left < stepsToCompare) return null;
  const measure = async (version: Compares, other: string) => {
    const branch = await version.view?.fork();
    if (branch === undefined) return { problem: 'it has no branch' };
    const workspace = new Workspace(branch);
    const seconds = Math.min(wanted(version), version === one ? most : seconds_left);
    if (version === one && isShortened)
      await workspace.writeFile(workspace.task.entry, one.within?.(own) ?? '');
    return await measureHeldOut(workspace, contract, { part: 0, other, seconds });
  };
  const before = await measure(than, '');
  const found = 'problem' in before ? before : await measure(one, before.answers);
  return 'problem' in found ? found : found.gain;
}

/** What is to be predicted, where it is written, and how it is scored. */
const ofAnswers = [
  ...['TRAIN', 'ANSWERS', 'FILE_COLUMN', 'TEST', 'SUBMISSION', 'ID', 'TARGETS', 'COLUMNS', 'CLASS_COLUMNS'],
  ...[
    'CLASSIFIES',
    'ARE_LABELS',
    'WRITES_PROBABILITY',
    'VALUES',
    'POSITIVE',
    'ROUNDS_TO_WHOLE',
    'BOUNDS',
    'TEXTS',
  ],
  ...['METRIC', 'QUANTILES', 'UNIT'],
];

/** A program about answers for rows of tables. */
function answersScript(
  { settings }: Contract,
  more: Readonly<Record<string, Setting>>,
  lastLine: string,
): string {
  const given = Object.entries(settings).filter(([name]) => ofAnswers.includes(name));
  const parts = ['settings', 'cells', 'data', 'scores', 'formats', 'table', 'held_out'];
  return pythonScript(parts, { ...Object.fromEntries(given), ...more }, lastLine);
}

/** The program that measures the version in the workspace on one part of the rows. */
export function heldOutScript(
  contract: Contract,
  entry: string,
  { part, other, members = [], seconds }: Measuring,
): string {
  const what = { ENTRY: entry, PART: part, OTHER: other, TOGETHER: members, SECONDS: seconds };
  return answersScript(contract, what, 'measure()');
}

/** The program that averages the submission in the workspace with others; without others, it passes it on. */
export function averagingScript(contract: Contract, others: readonly string[] = []): string {
  return answersScript(contract, { TOGETHER: others }, others.length === 0 ? 'tell()' : 'average()');
}

/** Reads the output of `heldOutScript`; null if it ended before it printed, or if its output was cut. */
export function readHeldOut(printed: string): HeldOut | { problem: string } | null {
  return readPrinted('HELD OUT', Printed, printed);
}
