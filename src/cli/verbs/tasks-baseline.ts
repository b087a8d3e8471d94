import { existsSync, mkdtempSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { UserError } from '../../lib/errors.ts';
import { removeTree } from '../../lib/read-only-tree.ts';
import { shellWord } from '../../lib/shell-word.ts';
import {
  type MeasuredScript,
  type Measurement,
  measureFolder,
  measureTask,
  type TaskResources,
} from '../../runs/index.ts';
import { improvement, mean } from '../../statistics/index.ts';
import {
  declaredMean,
  loadTask,
  type MeasuredFigures,
  sampleOf,
  saveFigures,
  type Task,
  writeFigures,
} from '../../tasks/index.ts';
import type { Context } from '../context.ts';
import { figureCaveats, nameOf, partOf, secondsAlone, spreadsAway } from '../figure-caveats.ts';
import { wholeNumber } from '../flag-numbers.ts';
import { leaseGpuFor } from '../gpus-of-run.ts';
import { machineName, rounded } from '../measured-figures.ts';
import { exactDuration, number, percent, table } from '../table.ts';
import { prepareFlags, provision, type ResourceFlags } from '../task-resources.ts';
import type { Verb } from '../verb.ts';

interface Options extends ResourceFlags {
  seeds?: number;
  reference?: boolean;
  gpu?: boolean;
  save?: boolean;
  keep?: boolean;
  write?: boolean;
}

export const tasksBaseline: Verb = {
  arguments: [{ name: '<tasks...>', description: 'task ids, or task folders' }],
  flags: [
    {
      flags: '--seeds <n>',
      description: 'number of seeds, from 0 on (default: 5)',
      parse: wholeNumber(1),
    },
    { flags: '--reference', description: 'measure the reference solution instead of the baseline' },
    { flags: '--write', description: 'write the figures into task.yaml' },
    { flags: '--save', description: 'use the figures for later runs on this copy of the data' },
    { flags: '--keep', description: 'keep the runs, failed ones too, as an experiment' },
    { flags: '--gpu', description: 'give the script and the grader a GPU' },
    ...prepareFlags,
  ],
  details:
    'Runs the starter (or, where baseline.method is constant, the trivial predictor in hidden/constant/) once for each\n' +
    'seed, one at a time, grades each run, and prints the lines for task.yaml (--write writes them).',
  examples: [
    ['mlab tasks baseline digits', 'mean, spread and time of the starter over 5 seeds'],
    ['mlab tasks baseline ./tasks/mine --write', 'the same, and written into its task.yaml'],
    ['mlab tasks baseline ./tasks/mine --seeds 1 --keep', 'once; then mlab view shows what the script did'],
    ['mlab tasks baseline cifar10 --save', 'the same, for data without figures in task.yaml'],
    ['mlab tasks baseline babylm --gpu --save', 'the same, measured on a GPU'],
    ['mlab tasks baseline digits --reference --seeds 10', 'the same for the reference solution'],
  ],
  async run(context, ids, given: object) {
    const options = given as Options;
    const { seeds = 5 } = options;
    if (options.write === true && options.sample === true)
      throw new UserError(
        'bad_flag',
        '--write with --sample: figures of sample data say nothing about the task.',
        'Leave out one of them.',
      );
    const results: Result[] = [];
    for (const id of ids) results.push(await measureOne(context, id, seeds, options));
    const title = options.write === true ? 'Now in task.yaml:' : 'For task.yaml:';
    return {
      text: results.map((result) => textOf(result, title)).join('\n\n'),
      json: { tasks: results },
    };
  },
};

interface Result {
  task: string;
  measurement: Measurement;
  /** The distance of the mean from the declared one; null if it is infinite, or there was none. */
  spreads: number | null;
  /** Of the reference solution over the starter's scores of the same gradings, or else over the declared baseline. */
  improvement: number | null;
  /** One on a line. */
  caveat: string | null;
  yaml: string;
}

/** What was measured, and where; the time without that of other programs. */
interface Figures {
  measurement: Measurement;
  seconds: number;
  machine: string;
}

async function measureOne(context: Context, id: string, seeds: number, options: Options): Promise<Result> {
  const whole = loadTask(id, context.folders.tasks, { toMeasure: true });
  await using gpus = await leaseGpuFor(context, whole, options.gpu);
  const resources = await provision(context, whole, options);
  const task = options.sample === true ? sampleOf(whole) : whole;
  const { id: name } = task.file;
  const machine = machineName(gpus?.gpus);
  const parent = mkdtempSync(join(tmpdir(), 'mlab-measure-'));
  const what = subjectOf(task, options);
  const folder = options.keep
    ? newExperiment(context.folders.experiments, `measure-${name}-${what}`)
    : measureFolder(parent, name);
  if (options.keep === true) {
    const view = `${context.command} view ${basename(folder)}${context.placeFlags}`;
    context.log(`${name}: the runs stay in ${folder}; ${view} shows them`);
  }
  try {
    const measurement = await measureTask({
      ...{ resources, what, folder, sandbox: 'bubblewrap' },
      seeds: Array.from({ length: seeds }, (_, seed) => seed),
      helpersFolder: context.folders.helpers,
      versions: { mlab: context.version, node: process.version },
      ...{ threads: cpus().length, gpus },
      signal: gpus === undefined ? context.signal : AbortSignal.any([context.signal, gpus.lost]),
      onProgress: (line) => context.log(`${name}: ${line}`),
      onSeed: ({ seed, score, seconds, printed }) => {
        context.log(`${name}: seed ${seed}: ${number(score)} in ${exactDuration(seconds)}`);
        if (seed === 0) context.log(`${name}: it printed\n${printed.replace(/^/gm, '    ')}`);
      },
    });
    const usesGpu = gpus !== undefined;
    const figures = { measurement, seconds: secondsAlone({ measurement, usesGpu }), machine };
    if (options.save === true) save(context, resources, figures);
    const part = partOf(measurement);
    const flag = part === 'reference' ? ' --reference' : '';
    const measured = {
      ...{ task, measurement, declaredMean: declaredMean(task, part), usesGpu },
      toWrite:
        options.write === true ? null : `${context.command} tasks baseline ${shellWord(id)}${flag} --write`,
    };
    if (options.write === true) {
      writeFigures(whole, figuresOf(figures));
      context.log(`${name}: written into ${join(whole.folder, 'task.yaml')}`);
    }
    return {
      ...{
        task: name,
        measurement,
        spreads: spreadsAway(measured),
        improvement: part === 'reference' ? improvementOver(task, measurement) : null,
        yaml: yamlOf(part, figures),
      },
      caveat: figureCaveats(measured).join('\n') || null,
    };
  } finally {
    removeTree(parent);
  }
}

function improvementOver(task: Task, measurement: Measurement): number | null {
  const baseline = starterMean(measurement) ?? declaredMean(task, 'baseline');
  return baseline === null ? null : improvement(measurement.mean, baseline, task.file.metric.direction);
}

/** The mean of the starter's scores that were measured in the same gradings; null if the grader measures none. */
function starterMean({ runs }: Measurement): number | null {
  const scores = runs.flatMap(({ starterScore }) => starterScore ?? []);
  return scores.length < runs.length ? null : mean(scores);
}

/** The folder of an experiment of this name, or with a number if there is one already. */
function newExperiment(parent: string, name: string): string {
  for (let number = 1; ; number++) {
    const folder = join(parent, number === 1 ? name : `${name}-${number}`);
    if (!existsSync(folder)) return folder;
  }
}

function save(
  { folders, log }: Context,
  { task, prepared }: TaskResources,
  { measurement: { what, mean, spread, seeds }, seconds, machine }: Figures,
): void {
  const figures = { mean, spread, seeds, seconds };
  const measured = what === 'solution' ? { reference: figures } : { baseline: { ...figures, machine } };
  saveFigures(task, prepared, measured, folders);
  log(`${task.file.id}: kept; results on this data are marked as measured against it`);
}

/** In the form of task.yaml. */
function figuresOf({ measurement, seconds, machine }: Figures): MeasuredFigures {
  const { what, mean, spread, seeds } = measurement;
  const figures = {
    ...{ mean: rounded(mean), spread: rounded(spread), seeds },
    seconds: Number(seconds.toFixed(1)),
  };
  return what === 'solution' ? { reference: figures } : { baseline: { ...figures, machine } };
}

function subjectOf({ file }: Task, { reference }: Options): MeasuredScript {
  if (reference === true) return 'solution';
  return file.baseline.method === 'constant' ? 'constant' : 'starter';
}

function yamlOf(part: 'baseline' | 'reference', { measurement, seconds, machine }: Figures): string {
  const { mean, spread, seeds } = measurement;
  const lines = [
    `mean: ${rounded(mean)}`,
    `spread: ${rounded(spread)}`,
    `seeds: ${seeds}`,
    `seconds: ${seconds.toFixed(1)}`,
    ...(part === 'baseline' ? [`machine: ${machine}`] : []),
  ];
  return [`${part}:`, ...lines.map((line) => `  ${line}`)].join('\n');
}

function baselineText(measurement: Measurement): string {
  const starter = starterMean(measurement);
  return starter === null
    ? 'the baseline of task.yaml'
    : `the starter, which scored ${number(starter)} in the same gradings`;
}

function textOf(result: Result, title: string): string {
  const { task, measurement, caveat, yaml } = result;
  const { what, mean, spread, seeds, seconds, runs } = measurement;
  const rows = runs.map((run) => [String(run.seed), number(run.score), exactDuration(run.seconds)]);
  const columns = [
    { title: 'seed', align: 'right' as const },
    { title: 'score', align: 'right' as const },
    { title: 'time', align: 'right' as const },
  ];
  return [
    `${task}, ${nameOf[what]}: ${number(mean)} ± ${number(spread)} over ${seeds} seed${seeds === 1 ? '' : 's'}, ${exactDuration(seconds)} each`,
    table(columns, rows),
    ...(result.improvement === null
      ? []
      : [`Improvement over ${baselineText(measurement)}: ${percent(result.improvement, true)}`]),
    ...(caveat === null ? [] : [caveat.replaceAll(/^/gm, 'Caveat: ')]),
    `${title}\n${yaml}`,
  ].join('\n\n');
}
