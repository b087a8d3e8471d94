import { readdirSync } from 'node:fs';
import { declaredMean, loadTask, type Task } from '../../tasks/index.ts';
import { exactDuration, number, percent } from '../table.ts';
import type { Verb } from '../verb.ts';

export const tasksShow: Verb = {
  onlyReads: true,
  arguments: [{ name: '<task>', description: 'task id, or task folder' }],
  flags: [],
  examples: [['mlab tasks show digits', 'the problem that the agent gets, and facts about the task']],
  async run(context, [id = '']) {
    const task = loadTask(id, context.folders.tasks, { toMeasure: true });
    const { file } = task;
    const { metric } = file;
    const baseline = { ...file.baseline, ...unmeasured(task, 'baseline') };
    const reference = { ...file.reference, ...unmeasured(task, 'reference') };
    const starter = readdirSync(task.environmentFolder, { recursive: true, encoding: 'utf8' }).sort();
    const facts = [
      ['category', `${file.category}, ${file.modality}`],
      ['metric', `${metric.name} (${metric.unit}), ${metric.direction}`],
      ['baseline', `${measured(baseline)}: ${baseline.description}`],
      ['reference', `${measured(reference)}: ${reference.description}`],
      ['success', `improvement beyond ${percent(file.success.threshold)}`],
      ['submission', file.submission.files.map(({ path }) => path).join(', ')],
      ['starter', starter.join(', ')],
      ...(file.data === undefined ? [] : [['data', `${file.data.size}; ${file.data.split}`]]),
      [
        'sources',
        file.sources.map(({ file: name, licence }) => `${name} (${licence})`).join('; ') ||
          `no download${file.data?.licence === undefined ? '' : ` (${file.data.licence})`}`,
      ],
      ['suites', file.suites.join(', ') || 'none'],
      ['folder', task.folder],
    ];
    const text = facts.map(([name = '', value = '']) => `  ${name.padEnd(11)} ${value}`).join('\n');
    return {
      text: `${file.title}\n\n${text}\n\nThe problem that the agent gets\n\n${file.problem}`,
      json: { ...file, baseline, reference, version: task.version, folder: task.folder, starter },
    };
  },
};

type Figures = Record<'mean' | 'spread' | 'seeds' | 'seconds', number | null>;

/** What replaces the figures of a task that has none yet. */
function unmeasured(task: Task, part: 'baseline' | 'reference'): Partial<Figures> {
  if (declaredMean(task, part) !== null) return {};
  return { mean: null, spread: null, seeds: null, seconds: null };
}

function measured({ mean, spread, seeds, seconds }: Figures): string {
  if (mean === null || spread === null) return 'not measured yet';
  return `${number(mean)} ± ${number(spread)} over ${seeds} seeds, ${exactDuration(seconds ?? 0)} each`;
}
