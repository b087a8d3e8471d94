import { checkKaggle, describeProblem, findTasks, suites, type Task } from '../../tasks/index.ts';
import { wrapped } from '../report/terminal-table.ts';
import { counted, number, oneLine, table } from '../table.ts';
import type { Verb } from '../verb.ts';

/** Where its data comes from. */
function dataText(sources: Task['file']['sources']): string {
  if (sources.length === 0) return 'included';
  return sources.some((source) => 'kaggle' in source) ? 'Kaggle' : 'download';
}

/** At a terminal, the table cuts what the task is to the terminal's width. */
const mostSummary = 60;

/** Says which rows are variants of a task. */
function variantsNote(tasks: readonly Task[]): string {
  const variants = tasks.flatMap(({ file, variant }) => (variant === null ? [] : [file.id]));
  return variants.length === 0
    ? ''
    : `\n\n${counted(tasks.length - variants.length, 'task')}, and ${counted(variants.length, 'variant')} with other settings of the same task: ${variants.join(', ')}`;
}

export const tasksLs: Verb = {
  onlyReads: true,
  arguments: [],
  flags: [],
  examples: [
    ['mlab tasks ls', 'all tasks with their baseline and reference'],
    ['mlab tasks ls --json | jq .suites', 'the suites, as data'],
  ],
  async run(context) {
    const { tasks, problems } = findTasks(context.folders.tasks);
    for (const problem of problems) context.log(describeProblem(problem));
    const rows = tasks.map(({ file: { id, category, metric, baseline, reference, summary, ...file } }) => [
      id,
      category,
      dataText(file.sources),
      `${metric.name} ${metric.direction === 'maximize' ? '↑' : '↓'}`,
      number(baseline.mean),
      number(reference.mean),
      oneLine(summary, mostSummary),
    ]);
    const groups = suites(tasks);
    const lines = [...groups].map(
      ([name, members]) =>
        `  ${wrapped(`${name}: ${members.map(({ file }) => file.id).join(', ')}`).join('\n    ')}`,
    );
    const columns = [
      { title: 'task' },
      { title: 'category' },
      { title: 'data' },
      { title: 'metric' },
      { title: 'baseline', align: 'right' as const },
      { title: 'reference', align: 'right' as const },
      { title: 'what it is' },
    ];
    const needsKaggle = tasks.filter(({ file }) => dataText(file.sources) === 'Kaggle').length;
    const kaggle = checkKaggle(context.variables);
    const key =
      needsKaggle === 0 || kaggle.state === 'ok'
        ? ''
        : `\n\nKaggle, for the data of ${counted(needsKaggle, 'task')}: ${kaggle.detail} (${context.command} doctor says what to do)`;
    return {
      text: `${table(columns, rows)}${variantsNote(tasks)}${key}\n\nSuites\n${lines.join('\n')}\n\nMore: mlab tasks show TASK`,
      json: {
        tasks: tasks.map(({ file, version, folder }) => ({ ...file, version, folder })),
        suites: Object.fromEntries(
          [...groups].map(([name, members]) => [name, members.map(({ file }) => file.id)]),
        ),
        problems,
      },
    };
  },
};
