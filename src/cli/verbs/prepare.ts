import { UserError } from '../../lib/errors.ts';
import type { PreparedData } from '../../tasks/index.ts';
import { table } from '../table.ts';
import { checkDataOf, chooseTasks, prepareFlags, provision, type ResourceFlags } from '../task-resources.ts';
import type { Verb } from '../verb.ts';

interface Options extends ResourceFlags {
  suite?: string;
}

export const prepare: Verb = {
  arguments: [{ name: '[tasks...]', description: 'task ids, or task folders' }],
  flags: [{ flags: '--suite <name>', description: 'all tasks of a suite' }, ...prepareFlags],
  details:
    'Sources are downloaded from their URLs or from Kaggle (KAGGLE_API_TOKEN, or KAGGLE_USERNAME and\n' +
    'KAGGLE_KEY, or ~/.kaggle/kaggle.json).\n' +
    'Interrupted downloads are resumed. A mirror contains each source file as <folder>/<task>/<file>, <folder>/<file> or\n' +
    '<folder>/<group>/<task>/<file>, with any name for the group.',
  examples: [
    ['mlab prepare digits vectorization', 'two tasks that need no download'],
    ['mlab prepare house-price --mirror /data/mirror --allow-unverified', 'from a local copy of the sources'],
  ],
  async run(context, ids, options: Options) {
    const tasks = chooseTasks(context, ids, options.suite, { toMeasure: true });
    if (tasks.length === 0) {
      throw new UserError(
        'no_tasks',
        'No task is given.',
        'Name a task or a --suite; mlab tasks ls lists them.',
      );
    }
    await checkDataOf(context, tasks, options);
    const rows = [];
    for (const task of tasks) rows.push(await provision(context, task, options));
    const text = table(
      [{ title: 'task' }, { title: 'data' }, { title: 'Python' }],
      rows.map(({ task, prepared, python }) => [
        task.file.id,
        dataText(prepared),
        `${python.version}, ${Object.keys(python.packages).length} packages`,
      ]),
    );
    const prepared = rows.map(({ task, prepared: data, python }) => ({
      task: task.file.id,
      ...data,
      python,
    }));
    return { text, json: { prepared } };
  },
};

function dataText({ verified, manifest }: PreparedData): string {
  if (manifest.sample === true) return 'synthetic sample: results get a caveat';
  return verified ? 'verified' : 'unverified: results get a caveat';
}
