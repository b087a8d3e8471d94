import { z } from 'zod';
import type { SubmissionFile, TaskBrief } from '../../../schema/index.ts';
import type { Workspace } from '../../common/workspace.ts';
import { isPercentage, usualName } from '../../search/metric-names.ts';
import { maxEpochs } from '../most-epochs.ts';
import { pythonScript, readPrinted, Setting } from './python-file.ts';

/** What `python/automl/contract.py` prints: what a model has to learn, and the script that learns it. */
const Contract = z.object({
  plan: z.string(),
  kind: z.enum(['table', 'arrays', 'files']),
  is_measured: z.boolean().describe("the script prints the task's own metric"),
  parts: z.array(z.string().regex(/^[a-z_]+$/)).describe('names of files in python/automl'),
  settings: z.record(z.string(), Setting),
  reads: z.string().describe('the last lines of the script'),
  members: z.array(z.string()).describe('models to blend, the best first'),
});
export type Contract = z.infer<typeof Contract>;

const Problem = z.object({ problem: z.string() });

/** A table to submit: one of CSV, or a file of another kind that holds the same. */
type AskedTable = Extract<SubmissionFile, { format: 'csv' | 'file' }>;

/**
 * To look at the data (2), to write, run and check a script (3), to settle it or restore the starter (2), to check and
 * answer (2).
 */
const stepsNeeded = 9;
const lookScript = 'look_at_data.py';

/** Infers what there is to learn from the task and its data; takes two steps. `aim` begins a sentence of the notes. */
export async function findContract(
  workspace: Workspace,
  aim: string,
): Promise<Contract | { problem: string }> {
  const file = askedTable(workspace.task);
  if (file === null) return { problem: 'I write models only where one table is to be predicted' };
  if (workspace.budget.steps_left < stepsNeeded) return { problem: 'too few steps are left to write one' };
  workspace.note({ Reason: `${aim} I must know what there is to learn from, and with which packages.` });
  await workspace.writeFile(lookScript, contractScript(workspace.task, file));
  const contract = readContract((await workspace.executeScript(lookScript)).observation);
  if (!('problem' in contract)) workspace.note({ Plan: contract.plan });
  return contract;
}

/** The only table that the task asks for; null if it asks for something else. */
export function askedTable(task: TaskBrief): AskedTable | null {
  const [file, ...others] = task.submission.files;
  if (file === undefined || others.length > 0) return null;
  const isTable = file.format === 'csv' || (file.format === 'file' && /\.(?:jsonl|npy)$/.test(file.path));
  return isTable ? file : null;
}

/** A script that infers the contract from the data folder. */
export function contractScript(task: TaskBrief, file: AskedTable): string {
  const metric = usualName(task.metric);
  const settings = {
    ...(file.format === 'csv' ? settingsOf(file) : { LIKE: file.path }),
    SUBMISSION: file.path,
    METRIC: metric,
    METRIC_NAME: task.metric.name,
    IN_PERCENT: isPercentage(task.metric),
    TOLD: metric === 'pinball' ? quantilesOf(`${task.metric.name}\n${task.problem}`) : [],
    EPOCHS: maxEpochs(task.problem) ?? 0,
    POSITIVE: positive(task),
  };
  const parts = [
    ...['cells', 'moments', 'formats', 'look', 'asked', 'answers', 'pairs'],
    ...['rows', 'sources', 'portfolio', 'contract'],
  ];
  return pythonScript(parts, settings, 'print_contract()');
}

function settingsOf({ id, columns }: Extract<AskedTable, { format: 'csv' }>): Record<string, Setting> {
  return {
    TEST: id.from.startsWith('data/') ? id.from : `data/${id.from}`,
    ID: id.column,
    ASKED: columns.map(({ name, type, min = -1e300, max = 1e300, values = [] }) => [
      ...[name, type, min, max, values],
    ]),
    VALUES: columns.length === 1 ? (columns[0]?.values ?? []) : [],
  };
}

/** The quantiles that a task asks for: of "the quantile 0.8", "the 10 % and 90 % quantiles", "q=0.8"; each once. */
function quantilesOf(text: string): number[] {
  const and = '(?:, and |, | and )';
  const shares = `(?:quantiles?|pinball|\\bq\\b|\\bp)[^.\\d]{0,12}((?:0?\\.\\d+${and}?)+)`;
  const one = '\\b\\d{1,2}(?: ?%|th)';
  const percents = `((?:${one}${and})*${one})[- ]?(?:quantile|percentile)`;
  const told = [...text.matchAll(new RegExp(`${shares}|${percents}`, 'gi'))];
  const numbers = told.flatMap(([, share = '', percent = '']) => [
    ...(share.match(/0?\.\d+/g) ?? []).map(Number),
    ...(percent.match(/\d+/g) ?? []).map((each) => Number(each) / 100),
  ]);
  return [...new Set(numbers)];
}

/** What the task says its probabilities, or its metric, are about. */
function positive({ submission, problem }: TaskBrief): string[] {
  const told = `${submission.description}\n${problem}`.matchAll(aboutPattern);
  return [...told].map(([, about = '']) => about.replace(/\s+/g, ' ').trim());
}

const aboutPattern =
  /\b(?:(?:probability|likelihood|chance|F[\d.]+|average precision)\s+(?:that|of|for)|positive class)\b([^.:;()]{0,80})/gi;

/** Reads the output of that script. */
export function readContract(printed: string): Contract | { problem: string } {
  const problem = 'the data folder could not be looked at';
  return readPrinted('CONTRACT', z.union([Contract, Problem]), printed) ?? { problem };
}

/** The entry script that fulfils a contract. */
export function modelScript({ parts, settings, reads, members }: Contract, seconds: number): string {
  const own = { MEMBERS: members, SECONDS: Math.max(5, Math.round(seconds)) };
  return pythonScript(parts, { ...settings, ...own }, reads);
}

/** A description for people. */
export function describeModel({ members }: Contract): string {
  return members.join(', ');
}
