import { gradeRun } from '../../grading/index.ts';
import { messageOf, UserError } from '../../lib/errors.ts';
import {
  type ExperimentModels,
  experimentModels,
  type TaskEquipment,
  toolModelFor,
} from '../../runs/index.ts';
import type { Grade, RunSpec } from '../../schema/index.ts';
import { improvementOf } from '../../statistics/index.ts';
import type { Experiment, RunFolder } from '../../store/index.ts';
import { loadTask, sampleMark, type Task } from '../../tasks/index.ts';
import { type Context, exitCodes } from '../context.ts';
import { equip, type PrepareOptions, prepareFlags } from '../equipment.ts';
import { locateRuns } from '../locate.ts';
import { registryOf } from '../model-registry.ts';
import { number, oneLine, percent, plain, table } from '../table.ts';
import type { Verb } from '../verb.ts';

interface Options extends PrepareOptions {
  steps: string;
}

interface GradedRun {
  run: string;
  grade: Grade;
}

/** Grades runs of one experiment; data and environment of a task are got once, and so is what is wrong with them. */
class RunGrader {
  readonly #context: Context;
  readonly #experiment: Experiment;
  readonly #options: PrepareOptions;
  readonly #equipped = new Map<string, Promise<TaskEquipment>>();
  #models: ExperimentModels | undefined;

  constructor(context: Context, experiment: Experiment, options: PrepareOptions) {
    this.#context = context;
    this.#experiment = experiment;
    this.#options = options;
  }

  /** None of a run that has not begun; and where only its final submission is wanted, of one that has not ended. */
  async grade(folder: RunFolder, which: 'final' | 'all'): Promise<Grade[]> {
    const record = folder.readRecord();
    if (record === null) return [];
    const { signal, folders, variables } = this.#context;
    const equipment = await this.#equipmentOf(record.spec);
    const { task } = equipment;
    return await gradeRun({
      ...{ folder, ...equipment, helpersFolder: folders.helpers, which, signal },
      dockerCommand: variables.MLAB_DOCKER,
      toolModel: toolModelFor(record.spec, task, this.#modelsFor(task)),
    });
  }

  #equipmentOf({ task, marks }: RunSpec): Promise<TaskEquipment> {
    const sample = marks.includes(sampleMark);
    const key = `${task} ${sample}`;
    const equipped = this.#equipped.get(key) ?? this.#equip(task, sample);
    this.#equipped.set(key, equipped);
    return equipped;
  }

  async #equip(id: string, sample: boolean): Promise<TaskEquipment> {
    const task = loadTask(id, this.#context.folders.tasks);
    return await equip(this.#context, task, { ...this.#options, sample });
  }

  /** Tools that are graded may ask the models of the plan, within what the experiment may still use. */
  #modelsFor({ file }: Task): ExperimentModels | undefined {
    if (!file.services.some(({ kind }) => kind === 'model')) return undefined;
    const { plan } = this.#experiment;
    this.#models ??= experimentModels(plan, {
      registry: registryOf(this.#context, plan),
      experiment: this.#experiment,
    });
    return this.#models;
  }
}

export const grade: Verb = {
  arguments: [{ name: '<run>', description: 'a run (EXPERIMENT/RUN), or an experiment for all its runs' }],
  flags: [
    {
      flags: '--steps <which>',
      description: 'final, or all for the hidden score of every step',
      default: 'final',
    },
    ...prepareFlags,
  ],
  details:
    'Grading reads the store only. Each distinct submission is graded once; what is known is not graded again. Only a\n' +
    "run that ended has a final submission. Where a run of several can't be graded, the others are, and the exit code is 1.",
  examples: [
    ['mlab grade start-1', 'the final submission of every run'],
    ['mlab grade start-1/digits-automl-0 --steps all', 'the hidden score after every step'],
  ],
  async run(context, [given = ''], options: Options) {
    const which = options.steps;
    if (which !== 'final' && which !== 'all') {
      throw new UserError('bad_flag', `--steps ${which}: there is no such choice.`, 'Use final or all.');
    }
    const { experiment, folders } = locateRuns(context, given);
    const grader = new RunGrader(context, experiment, options);
    const graded: GradedRun[] = [];
    const unfinished: string[] = [];
    const failed: { run: string; error: unknown }[] = [];
    for (const folder of folders) {
      context.signal.throwIfAborted();
      try {
        const grades = await grader.grade(folder, which);
        if (grades.length === 0) unfinished.push(folder.id);
        else context.log(`${folder.id}: ${grades.length} graded`);
        graded.push(...grades.map((one) => ({ run: folder.id, grade: one })));
      } catch (error) {
        if (folders.length === 1 || context.signal.aborted) throw error;
        context.log(`${folder.id}: not graded`);
        failed.push({ run: folder.id, error });
      }
    }
    // What is wrong with a task is one error, whichever of its runs meet it.
    const failures = [...Map.groupBy(failed, ({ error }) => error)].map(([error, runs]) => ({
      runs: runs.map(({ run }) => run),
      message: messageOf(error),
      hint: UserError.isInstance(error) ? error.hint : '',
    }));
    const text = [
      ...(graded.length === 0 ? [] : [tableOf(graded), '']),
      ...failures.flatMap(({ runs, message, hint }) => [
        `Not graded: ${runs.join(', ')}.`,
        ...[message, hint]
          .filter((line) => line !== '')
          .map((line) => `  ${plain(line).replaceAll('\n', '\n  ')}`),
        '',
      ]),
      ...(unfinished.length === 0 ? [] : [unfinishedText(unfinished, which), '']),
    ];
    return {
      text: text.slice(0, -1).join('\n'),
      json: { experiment: experiment.plan.name, grades: graded, unfinished, failures },
      exitCode: failures.length > 0 ? exitCodes.negative : exitCodes.ok,
    };
  },
};

function unfinishedText(runs: readonly string[], which: 'final' | 'all'): string {
  const what = `${runs.join(', ')} ${runs.length === 1 ? 'has' : 'have'}`;
  return which === 'all'
    ? `Nothing to grade yet: ${what} not begun.`
    : `Nothing final to grade yet: ${what} not ended. The mlab run command of the experiment resumes; --steps all grades the steps until now.`;
}

function tableOf(graded: readonly GradedRun[]): string {
  const right = 'right' as const;
  const columns = [
    { title: 'run' },
    { title: 'step', align: right },
    { title: 'score', align: right },
    { title: 'improvement', align: right },
    { title: '' },
  ];
  const rows = graded.map(({ run, grade: one }) => [
    run,
    one.final ? `${one.step} (final)` : String(one.step),
    number(one.score),
    percent(improvementOf(one), true),
    [
      ...one.problems.map(({ message }) => oneLine(message, 200)),
      ...(one.stale ? ['stale: older than the last script run'] : []),
      ...one.marks,
    ].join('; '),
  ]);
  return table(columns, rows);
}
