import { UserError } from '../../lib/errors.ts';
import { type Cell, resultCells } from '../../statistics/index.ts';
import { outcomesOf } from '../outcomes.ts';
import { dollars, duration, number, percent, table } from '../table.ts';
import type { Verb } from '../verb.ts';

export const report: Verb = {
  arguments: [{ name: '<experiments...>', description: 'names of experiments, or their folders' }],
  flags: [],
  details:
    "Success: the final submission improves on the baseline beyond the task's threshold (10 % unless the task says\n" +
    'otherwise). Its rate comes with a 95 % interval (Wilson). Runs that died of the infrastructure are told apart.',
  examples: [
    ['mlab report start-1', 'one experiment'],
    ['mlab report a b --json', 'two together, as data'],
  ],
  async run(context, names) {
    if (names.length === 0) throw new UserError('usage', 'Name an experiment.', 'mlab runs ls lists them.');
    const runs = names.flatMap((name) => outcomesOf(context, name));
    const cells = resultCells(runs);
    return { text: resultsTable(cells), json: { cells, runs } };
  },
};

/** The table that people see after an experiment. */
export function resultsTable(cells: readonly Cell[]): string {
  const right = 'right' as const;
  const asksModels = cells.some(({ tokens_mean }) => tokens_mean !== null);
  return table(
    [
      { title: 'task' },
      { title: 'agent' },
      { title: 'runs', align: right },
      { title: 'success', align: right },
      { title: '95 % interval', align: right },
      { title: 'improvement', align: right },
      { title: 'score', align: right },
      { title: 'baseline', align: right },
      { title: 'steps', align: right },
      { title: 'time', align: right },
      ...(asksModels
        ? [
            { title: 'tokens', align: right },
            { title: 'cost', align: right },
          ]
        : []),
      { title: '' },
    ],
    cells.map((cell) => [
      cell.task,
      cell.agent,
      String(cell.runs),
      cell.success_rate === null ? '–' : percent(cell.success_rate),
      cell.runs === 0
        ? '–'
        : `${percent(cell.success_interval.low)} … ${percent(cell.success_interval.high)}`,
      percent(cell.improvement_mean, true),
      number(cell.score_mean) + (cell.score_spread === null ? '' : ` ± ${number(cell.score_spread)}`),
      number(cell.baseline_mean),
      number(cell.steps_mean),
      duration(cell.seconds_mean),
      ...(asksModels ? [number(cell.tokens_mean), dollars(cell.money_mean)] : []),
      remarks(cell),
    ]),
  );
}

function remarks(cell: Cell): string {
  const invalid = cell.runs - cell.valid;
  return [
    ...(invalid > 0 ? [`${invalid} without a valid submission`] : []),
    ...(cell.stale > 0 ? [`${cell.stale} stale`] : []),
    ...(cell.infrastructure_failures > 0
      ? [`${cell.infrastructure_failures} died of the infrastructure`]
      : []),
    ...(cell.unfinished > 0 ? [`${cell.unfinished} not finished or not graded`] : []),
    ...cell.marks,
  ].join(', ');
}
