import { chooseLessons, fingerprintOf } from '../../experience/index.ts';
import type { Lesson } from '../../schema/index.ts';
import { loadTask } from '../../tasks/index.ts';
import {
  entryColumns,
  entryRow,
  noiseUnits,
  storedEntries,
  type TaskFlags,
  taskFlags,
} from '../experience-store.ts';
import { number, oneLine, table } from '../table.ts';
import type { Verb } from '../verb.ts';

export const experienceLs: Verb = {
  onlyReads: true,
  arguments: [],
  flags: taskFlags,
  details: 'With --task: the lessons that `mlab run --experience` would give a run on that task.',
  examples: [
    ['mlab experience ls', 'all entries'],
    ['mlab experience ls --task house-price', 'what a run on that task would be given'],
  ],
  async run(context, _, flags: TaskFlags) {
    const entries = storedEntries(context, flags);
    if (flags.task === undefined) {
      return { text: table(entryColumns, entries.map(entryRow)), json: { entries } };
    }
    const task = fingerprintOf(loadTask(flags.task, context.folders.tasks));
    const lessons = chooseLessons(entries, { for: task, experiment: '', sameTask: flags.sameTask === true });
    if (lessons.length === 0) return { text: `No entry fits ${task.task}.`, json: { lessons } };
    return { text: lessonTable(lessons), json: { lessons } };
  },
};

function lessonTable(lessons: readonly Lesson[]): string {
  const right = 'right' as const;
  const columns = [
    { title: 'alike', align: right },
    { title: 'task' },
    { title: 'better', align: right },
    { title: '× noise', align: right },
    { title: 'change' },
    { title: 'from' },
  ];
  const rows = lessons.map(({ similarity, fingerprint, better, tries, effect, change, source }) => [
    number(similarity),
    fingerprint.task,
    `${better} of ${tries}`,
    noiseUnits(effect.noise_units),
    oneLine(change.text, 60),
    oneLine(`${source.experiment}/${source.run}:${source.step}`, 60),
  ]);
  return table(columns, rows);
}
