import { fingerprintOf, searchEntries, similarity } from '../../experience/index.ts';
import { loadTask } from '../../tasks/index.ts';
import type { Context } from '../context.ts';
import { entryColumns, entryRow, storedEntries, type TaskFlags, taskFlags } from '../experience-store.ts';
import { number, table } from '../table.ts';
import type { Verb } from '../verb.ts';

/** More entries than fit on a screen don't help. */
const shown = 20;

export const experienceSearch: Verb = {
  onlyReads: true,
  arguments: [
    { name: '<text...>', description: 'words to look for: changes, failures, tasks, libraries, columns' },
  ],
  flags: taskFlags,
  examples: [
    ['mlab experience search learning rate', 'entries about the learning rate'],
    ['mlab experience search out of memory --task cifar10', 'entries from similar tasks first'],
  ],
  async run(context, words, flags: TaskFlags) {
    const weigh = weighFor(context, flags);
    const found = searchEntries(storedEntries(context, flags), words.join(' '))
      .map(({ entry, score }) => ({ entry, score: score * weigh(entry) }))
      .filter(({ score }) => score > 0)
      .sort((one, other) => other.score - one.score || (one.entry.id < other.entry.id ? -1 : 1))
      .slice(0, shown);
    if (found.length === 0) return { text: 'Nothing found.', json: { found } };
    const columns = [{ title: 'score', align: 'right' as const }, ...entryColumns];
    const rows = found.map(({ entry, score }) => [number(score), ...entryRow(entry)]);
    return { text: table(columns, rows), json: { found } };
  },
};

/** With a task, entries of similar tasks rank higher. Entries of the task itself are included only on request. */
function weighFor(context: Context, { task: id, sameTask }: TaskFlags) {
  if (id === undefined) return () => 1;
  const task = fingerprintOf(loadTask(id, context.folders.tasks));
  return ({ fingerprint }: Parameters<typeof entryRow>[0]) =>
    fingerprint.family === task.family && sameTask !== true ? 0 : similarity(fingerprint, task);
}
