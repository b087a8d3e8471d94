import { mkdtempSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { UserError } from '../../lib/errors.ts';
import { removeTree } from '../../lib/read-only-tree.ts';
import { shellWord } from '../../lib/shell-word.ts';
import { type MeasuredScript, measureFolder, measureTask, type TaskResources } from '../../runs/index.ts';
import { TaskId } from '../../schema/index.ts';
import { improvement, isSuccess } from '../../statistics/index.ts';
import {
  findTasks,
  loadTask,
  madeUpTable,
  type TableFacts,
  type TaskFigures,
  tableFacts,
  writeFigures,
  writeTask,
} from '../../tasks/index.ts';
import type { Context } from '../context.ts';
import { machineName, rounded } from '../measured-figures.ts';
import { counted, exactDuration, number, percent } from '../table.ts';
import { provision } from '../task-resources.ts';
import type { Verb } from '../verb.ts';

interface Options {
  csv?: string;
  target?: string;
  leaveOut?: string[];
  into: string;
  interpreter?: string;
}

/** A new task has the packages of this one, so that both share one environment. */
const packagesOf = 'ecoli';
const seeds = [0, 1, 2];
const usualThreshold = 0.1;

export const tasksNew: Verb = {
  arguments: [{ name: '<name>', description: 'task id: lower-case letters, digits and hyphens' }],
  flags: [
    { flags: '--csv <file>', description: 'table with a header; default: a small synthetic one' },
    { flags: '--target <column>', description: 'column to predict: numbers, or up to 50 classes' },
    { flags: '--leave-out <columns>', description: 'columns that agents must not see', many: 'commas' },
    { flags: '--into <folder>', description: 'folder to create the task folder in', default: 'tasks' },
    {
      flags: '--interpreter <python>',
      description: 'Python to create environments with (3.10 or newer)',
    },
  ],
  details:
    'Creates a complete task: 30 % of the rows become the hidden test set, the starter is a decision tree, the reference\n' +
    'solution a random forest, and the metric accuracy or RMSE. Then it measures both over three seeds and writes the\n' +
    'figures into task.yaml. Change whatever you like afterwards.',
  examples: [
    ['mlab tasks new churn --csv customers.csv --target left', 'a task from your own table'],
    ['mlab tasks new my-task', 'an example task to change'],
  ],
  async run(context, [name = ''], given: object) {
    const options = given as Options;
    const id = idOf(name);
    const folder = resolve(options.into, id);
    const scratch = mkdtempSync(join(tmpdir(), 'mlab-new-'));
    try {
      const { csv, facts } = tableOf(options, scratch);
      const { folder: other } = loadTask(packagesOf, context.folders.tasks);
      refuseKnown(id, folder, context.folders.tasks);
      const requirements = join(other, 'requirements.txt');
      const template = join(context.folders.package, 'templates/task');
      writeTask({ id, facts, csv, folder, template, requirements });
      const changes = changesOf(facts);
      if (changes !== '') context.log(changes);
      context.log(`${folder}: written; measuring the starter and the reference solution`);
      const measured = await measureBoth(context, folder, scratch, options).catch((error: unknown) => {
        context.log(
          `${folder} is kept without figures. To measure them: ${context.command} tasks baseline ${shellWord(folder)} --write, and the same with --reference.`,
        );
        throw error;
      });
      return { text: textOf(context, folder, facts, measured), json: { task: id, folder, ...measured } };
    } finally {
      removeTree(scratch);
    }
  },
};

/** Of so few rows of a class, all may be among those to learn from. */
const rareRows = 12;

/** What the task does not have of the table, and what it has but perhaps should not. */
export function changesOf({
  rowsLeftOut,
  target,
  leftOut,
  suspects,
  classes,
}: Pick<TableFacts, 'rowsLeftOut' | 'target' | 'leftOut' | 'suspects' | 'classes'>): string {
  const rare = [...(classes ?? [])].filter(([, count]) => count < rareRows);
  const columns = leftOut.map((name) => `column ${name}${name === 'id' ? ' (replaced by a new one)' : ''}`);
  const gone = [...(rowsLeftOut === 0 ? [] : [`${rowsLeftOut} rows without ${target}`]), ...columns];
  return [
    ...(gone.length === 0 ? [] : [`Left out: ${gone.join('; ')}.`]),
    ...(suspects.length === 0
      ? []
      : [`Look at: ${suspects.join('; ')}. --leave-out COLUMNS leaves columns out.`]),
    ...rare.map(
      ([name, count]) =>
        `Only ${counted(count, 'row')} of "${name}": perhaps none of them is among the hidden rows.`,
    ),
  ].join('\n');
}

/** Commands would go on to use the other one. */
function refuseKnown(id: TaskId, folder: string, folders: readonly string[]): void {
  const known = findTasks(folders).tasks.find(({ file }) => file.id === id);
  if (known === undefined || known.folder === folder) return;
  throw new UserError('task_exists', `The task ${id} is already in ${known.folder}.`, 'Choose another name.');
}

function idOf(name: string): TaskId {
  const parsed = TaskId.safeParse(name);
  if (parsed.success) return parsed.data;
  throw new UserError(
    'bad_name',
    `"${name}" is not a valid task id.`,
    'Use lower-case letters, digits and hyphens, such as customer-churn.',
  );
}

function tableOf(
  { csv, target, leaveOut = [] }: Options,
  scratch: string,
): { csv: string; facts: TableFacts } {
  if (csv === undefined) {
    const [flag] = [
      ...(target === undefined ? [] : ['--target']),
      ...(leaveOut.length === 0 ? [] : ['--leave-out']),
    ];
    if (flag !== undefined)
      throw new UserError('bad_flag', `${flag} needs a table.`, 'Add one with --csv FILE.');
    const file = join(scratch, 'flats.csv');
    writeFileSync(file, madeUpTable());
    return { csv: file, facts: tableFacts(file, 'rent') };
  }
  if (target === undefined)
    throw new UserError('bad_flag', '--csv needs --target.', 'Name the column to predict.');
  return { csv, facts: tableFacts(csv, target, leaveOut) };
}

interface MeasuredTask {
  baseline: TaskFigures;
  reference: TaskFigures;
  /** Of the reference over the baseline, as a fraction; null if the baseline is 0. */
  improvement: number | null;
  threshold: number;
  /** Twice the spread of the baseline, as a fraction of it: what chance may produce. */
  noise: number;
}

async function measureBoth(
  context: Context,
  folder: string,
  scratch: string,
  { interpreter }: Options,
): Promise<MeasuredTask> {
  const task = loadTask(folder, context.folders.tasks, { toMeasure: true });
  const resources = await provision(context, task, interpreter === undefined ? {} : { interpreter });
  const baseline = await measure(context, resources, 'starter', scratch);
  const reference = await measure(context, resources, 'solution', scratch);
  const gain = improvement(reference.mean, baseline.mean, task.file.metric.direction);
  const noise = baseline.mean === 0 ? 0 : Math.abs((2 * baseline.spread) / baseline.mean);
  const threshold = thresholdFor(gain, noise);
  const figures = { baseline: { ...baseline, machine: machineName() }, reference };
  writeFigures(task, figures, threshold === usualThreshold ? null : threshold);
  return { baseline, reference, improvement: gain, threshold, noise };
}

/**
 * The improvement, as a fraction, that counts as success: the usual one, or one between the starter and a reference that
 * is only a little better. Not less than the spread of the starter: then chance alone would succeed.
 */
export function thresholdFor(gain: number | null, noise: number): number {
  const isBetween = gain !== null && gain > 0 && gain <= usualThreshold + noise;
  const least = Math.max(isBetween ? gain / 2 : usualThreshold, noise / 2);
  const rounded = Number(least.toPrecision(2));
  return rounded >= least ? rounded : Number((least * 1.05).toPrecision(2));
}

async function measure(
  context: Context,
  resources: TaskResources,
  what: MeasuredScript,
  scratch: string,
): Promise<TaskFigures> {
  const name = what === 'starter' ? 'starter' : 'reference solution';
  const { mean, spread, seconds } = await measureTask({
    ...{ resources, what, seeds, sandbox: 'bubblewrap', signal: context.signal },
    helpersFolder: context.folders.helpers,
    folder: measureFolder(join(scratch, what), resources.task.file.id),
    versions: { mlab: context.version, node: process.version },
    threads: cpus().length,
    onProgress: (line) => context.log(`${name}: ${line}`),
    onSeed: ({ seed, score, seconds: took }) =>
      context.log(`${name}: seed ${seed}: ${number(score)} in ${exactDuration(took)}`),
  });
  return {
    mean: rounded(mean),
    spread: rounded(spread),
    seeds: seeds.length,
    seconds: Number(seconds.toFixed(1)),
  };
}

function textOf(
  { command, placeFlags }: Context,
  folder: string,
  facts: TableFacts,
  measured: MeasuredTask,
): string {
  const { target, rows, features, classes } = facts;
  const kind = classes === null ? 'a number' : `${classes.size} classes`;
  const { baseline, reference } = measured;
  const shown = join(basename(join(folder, '..')), basename(folder));
  return `${folder}: ${rows} rows, ${features.length} feature columns, target ${target} (${kind})

  starter             ${number(baseline.mean)} ± ${number(baseline.spread)}
  reference solution  ${number(reference.mean)} ± ${number(reference.spread)}

${adviceOn(measured)}${adviceOnConstants(facts, measured)}

Next:${betterReference(measured, shown)}
  edit ${shown}/task.yaml: describe your data; the agent is shown "problem"
  ${command} tasks check ${shellWord(folder)}${placeFlags}    only the reference solution may succeed
  ${command} run --task ${shellWord(folder)} --agent automl${placeFlags}`;
}

function betterReference({ improvement: gain }: MeasuredTask, shown: string): string {
  return gain === null || gain <= 0
    ? `\n  improve ${shown}/hidden/solution/train.py until it is better than the starter`
    : '';
}

/** A task that a constant answer solves measures nothing. */
export function adviceOnConstants(
  { classes, constantScore }: Pick<TableFacts, 'classes' | 'constantScore'>,
  { baseline, threshold }: Pick<MeasuredTask, 'baseline' | 'threshold'>,
): string {
  const direction = classes === null ? 'minimize' : 'maximize';
  if (!isSuccess(improvement(constantScore, baseline.mean, direction), threshold)) return '';
  const [largest = ''] = [...(classes ?? [])].reduce(
    (one, other) => (other[1] > one[1] ? other : one),
    ['', 0],
  );
  const answer = classes === null ? 'Always answering the mean' : `Always answering "${largest}"`;
  return (
    `\n${answer} scores about ${number(constantScore)}, which would count as a success. Make the starter predict ` +
    'better than that, or choose another metric in hidden/grade.py.'
  );
}

function adviceOn({ improvement: gain, threshold, noise }: MeasuredTask): string {
  if (gain === null || gain <= 0)
    return 'The reference solution is no better than the starter. Improve hidden/solution/train.py until it is.';
  const found = `The reference solution is ${percent(gain)} better; runs that improve by more than ${percent(threshold)} count as successful.`;
  if (gain - threshold > noise) return found;
  const remedies = 'Improve hidden/solution/train.py, make the starter weaker, or use more rows.';
  return `${found}\nThat is within the noise of the starter (${percent(noise)}). ${remedies}`;
}
