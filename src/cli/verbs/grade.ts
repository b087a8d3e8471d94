import { gradeRun } from '../../grading/index.ts';
import { UserError } from '../../lib/errors.ts';
import { type ExperimentModels, experimentModels, toolModelFor } from '../../runs/index.ts';
import type { Grade } from '../../schema/index.ts';
import { improvementOf } from '../../statistics/index.ts';
import type { Experiment } from '../../store/index.ts';
import { loadTask, sampleMark, type Task } from '../../tasks/index.ts';
import { type Context, exitCodes } from '../context.ts';
import { equip, type PrepareOptions, prepareFlags } from '../equipment.ts';
import { locateRuns } from '../locate.ts';
import { registryOf } from '../model-registry.ts';
import { number, oneLine, percent, table } from '../table.ts';
import type { Verb } from '../verb.ts';

interface Options extends PrepareOptions {
  steps: string;
}

/** Tools that are graded may ask the models of the plan, within what the experiment may still use. */
function modelsOf(context: Context, experiment: Experiment): ExperimentModels | undefined {
  const registry = registryOf(context, experiment.plan);
  return experimentModels(experiment.plan, { registry, experiment });
}

/** Null where there is no such task, as of an imported run; of the only run, that is an error. */
function taskOf(id: string, context: Context, isOnly: boolean): Task | null {
  try {
    return loadTask(id, context.folders.tasks);
  } catch (error) {
    if (isOnly || !UserError.isInstance(error) || error.code !== 'unknown_task') throw error;
    context.log(`${id}: ${error.message}`);
    return null;
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
    'Grading reads the store only. Each distinct submission is graded once; what is known is not graded again.',
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
    const rows: { run: string; grade: Grade }[] = [];
    const ungradable: string[] = [];
    let models: ExperimentModels | undefined;
    const equipped = new Map<string, Awaited<ReturnType<typeof equip>>>();
    for (const folder of folders) {
      const record = folder.readRecord();
      if (record === null) continue;
      context.signal.throwIfAborted();
      const { task: id, marks } = record.spec;
      const sample = marks.includes(sampleMark);
      const key = `${id} ${sample}`;
      const task = taskOf(id, context, folders.length === 1);
      if (task === null) {
        ungradable.push(folder.id);
        continue;
      }
      const equipment = equipped.get(key) ?? (await equip(context, task, { ...options, sample }));
      equipped.set(key, equipment);
      const { signal, folders: places } = context;
      const asksModel = task.file.services.some(({ kind }) => kind === 'model');
      if (asksModel) models ??= modelsOf(context, experiment);
      const grades = await gradeRun({
        ...{ folder, ...equipment, helpersFolder: places.helpers, which, signal },
        dockerCommand: context.variables.MLAB_DOCKER,
        toolModel: toolModelFor(record.spec, task, models),
      });
      rows.push(...grades.map((one) => ({ run: folder.id, grade: one })));
      context.log(`${folder.id}: ${grades.length} graded`);
    }
    const columns = [
      { title: 'run' },
      { title: 'step', align: 'right' as const },
      { title: 'score', align: 'right' as const },
      { title: 'improvement', align: 'right' as const },
      { title: '' },
    ];
    const text = table(
      columns,
      rows.map(({ run, grade: one }) => [
        run,
        one.final ? `${one.step} (final)` : String(one.step),
        number(one.score),
        percent(improvementOf(one), true),
        [
          ...one.problems.map(({ message }) => oneLine(message, 200)),
          ...(one.stale ? ['stale: older than the last script run'] : []),
          ...one.marks,
        ].join('; '),
      ]),
    );
    const json = { experiment: experiment.plan.name, grades: rows, ungradable };
    if (ungradable.length === 0) return { text, json };
    const remark = `Not graded, for there is no such task here: ${ungradable.join(', ')}.`;
    return { text: `${text}\n\n${remark}`, json, exitCode: exitCodes.negative };
  },
};
