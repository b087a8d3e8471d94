import type { Comparison, Report, ReportPair, ReportRow } from '../../schema/index.ts';
import { counted, number, percent } from '../table.ts';
import { branches } from './branches-table.ts';
import {
  approximate,
  caveatColumn,
  change,
  costField,
  countedRate,
  countOf,
  detail,
  estimateFields,
  type Field,
  intervalFields,
  inWords,
  meanFields,
  money,
  points,
  quantity,
  rateFields,
  ratio,
  seconds,
  share,
  spare,
  words,
} from './cells.ts';
import { define } from './define-table.ts';
import type { DocumentTable } from './document.ts';
import { curves, frontiers, profiles } from './plot-tables.ts';
import { failures, integrity, processProfile } from './process-tables.ts';
import { efficiency, hasEstimates, models } from './usage-tables.ts';

const taskAndAgent: Field<ReportPair>[] = [
  words('task', 'task', ({ task }) => task),
  words('agent', 'agent', ({ agent }) => agent),
];

const results = define<ReportPair>({
  title: 'Results',
  note: 'Success: the final submission improves on the baseline beyond the threshold: that of the task, or 10 % by the convention of the paper. Improvement and score: means over valid final submissions.',
  rows: ({ pairs }) => pairs,
  fields: [
    ...taskAndAgent,
    spare(
      2,
      countOf('successes', 'successes', ({ success }) => success),
    ),
    ...rateFields<ReportPair>('success', 'success', ({ success }) => success),
    detail({
      ...countedRate<ReportPair>('significant', 'significant', ({ significant }) => significant),
      note: 'Significant: also beyond the noise of the baseline.',
    }),
    ...estimateFields<ReportPair>('improvement', 'improvement', ({ improvement }) => improvement),
    detail(quantity('normalised', 'normalised', ({ normalised }) => normalised?.mean ?? null, ratio)),
    spare(
      1,
      quantity('score', 'score', ({ score }) => score?.mean ?? null),
    ),
    detail(quantity('score_spread', '±', ({ score }) => score?.spread ?? null)),
    spare(
      3,
      quantity('baseline', 'baseline', ({ baseline }) => baseline),
    ),
    spare(
      4,
      quantity('seconds', 'time', ({ efficiency }) => efficiency?.seconds.wall ?? null, seconds),
    ),
    approximate(
      costField(({ efficiency }) => efficiency),
      hasEstimates,
    ),
    caveatColumn(caveats),
  ],
});

/** What a reader must know before trusting a row. */
function caveats(group: ReportPair | ReportRow): string {
  const {
    outcomes,
    stale,
    unfinished,
    sharing_steps: sharing = 0,
    infrastructure,
    integrity,
    caveats,
    ends,
  } = group;
  const failures = sum(infrastructure);
  const crashes = ends.agent_error ?? 0;
  return [
    ...(crashes > 0 ? [`${counted(crashes, 'run')} ended by an error of the agent`] : []),
    ...(outcomes.invalid > 0 ? [`${counted(outcomes.invalid, 'run')} without a valid submission`] : []),
    ...(stale > 0 ? [counted(stale, 'stale submission')] : []),
    ...(failures > 0 ? [counted(failures, 'infrastructure failure')] : []),
    ...normalisedOfSome(group),
    ...(unfinished > 0 ? [`${counted(unfinished, 'run')} not finished or not graded`] : []),
    ...(sharing > 0
      ? [`${counted(sharing, 'run')} ${sharing === 1 ? 'shares' : 'share'} steps with others`]
      : []),
    ...(integrity.flagged > 0 ? [`${counted(integrity.flagged, 'run')} flagged`] : []),
    ...new Set(caveats.map(shortCaveat)),
  ].join(', ');
}

/** Failures before any grading are in the rates, but have no normalised score. */
function normalisedOfSome({ normalised, success }: ReportPair | ReportRow): string[] {
  if (normalised === null || success === null) return [];
  const known = 'count' in normalised ? normalised.count : normalised.runs;
  return known < success.runs ? [`normalised scores of ${known} of ${success.runs} runs`] : [];
}

/** The text after a colon in a caveat differs from run to run. */
function shortCaveat(caveat: string): string {
  return caveat.split(':', 1)[0] ?? caveat;
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

const agents = define<ReportRow>({
  title: 'Agents over their tasks',
  note: 'Each task counts the same. IQM: interquartile mean of normalised scores, where 0 is the baseline and 1 the reference solution.',
  rows: ({ rows }) => rows,
  fields: [
    words('agent', 'agent', ({ agent }) => agent),
    spare(
      1,
      quantity('tasks', 'tasks', ({ tasks }) => tasks.length),
    ),
    spare(
      2,
      quantity('runs', 'runs', ({ runs }) => runs),
    ),
    spare(
      2,
      countOf('successes', 'successes', ({ success }) => success),
    ),
    ...meanFields<ReportRow>('success', 'success', ({ success }) => success),
    spare(3, {
      ...countedRate<ReportRow>('significant', 'significant', ({ significant }) => significant),
      note: 'Significant: success beyond the noise of the baseline.',
    }),
    ...meanFields<ReportRow>('improvement', 'improvement', ({ improvement }) => improvement, change),
    quantity('iqm', 'IQM', ({ normalised_iqm }) => normalised_iqm?.value ?? null, ratio),
    ...intervalFields<ReportRow>(
      'iqm',
      '95 % interval',
      (row) => row.normalised_iqm?.interval ?? null,
      ratio,
    ),
    spare(4, {
      ...words<ReportRow>('pass_at', 'pass@k', ({ pass_at }) =>
        pass_at.map(({ k, value }) => `${k}: ${percent(value)}`).join(', '),
      ),
      note: 'Pass@k: at least one of k runs succeeds.',
    }),
    caveatColumn(caveats),
  ],
});

const thresholds = define<{ row: ReportRow; at: ReportRow['thresholds'][number] }>({
  title: 'Success by threshold',
  note: 'At the end: by the final submission. At any step: by the best of the graded steps, where all were graded.',
  rows: ({ rows }) => rows.flatMap((row) => row.thresholds.map((at) => ({ row, at }))),
  fields: [
    words('agent', 'agent', ({ row }) => row.agent),
    quantity('threshold', 'improvement beyond', ({ at }) => at.threshold, share),
    countOf('end_successes', 'successes', ({ at }) => at.end),
    ...meanFields<{ at: ReportRow['thresholds'][number] }>('end', 'at the end', ({ at }) => at.end),
    countOf('any_step_successes', 'successes', ({ at }) => at.any_step),
    ...meanFields<{ at: ReportRow['thresholds'][number] }>(
      'any_step',
      'at any step',
      ({ at }) => at.any_step,
    ),
  ],
});

type Compared = { a: string; b: string; measure: string } & NonNullable<
  Report['comparisons'][number]['differences']['success']
>;

const comparisons = define<Compared>({
  title: 'Agents compared',
  note: 'The first minus the second, on the tasks that both have. Superiority: the probability that a run of the first has the better score, minus that of the opposite. p: two-sided, by permutation within tasks, corrected for the number of comparisons (Holm).',
  rows: ({ comparisons: all }) =>
    all.flatMap(({ a, b, differences }) =>
      Object.entries(differences).map(([measure, difference]) => ({ a, b, measure, ...difference })),
    ),
  fields: [
    words('a', 'first', ({ a }) => a),
    words('b', 'second', ({ b }) => b),
    words('measure', 'measure', ({ measure }) => measure),
    quantity('tasks', 'tasks', ({ tasks }) => tasks),
    quantity('difference', 'difference', ({ value }) => value),
    ...intervalFields<Compared>('difference', '95 % interval', ({ interval }) => interval, number),
    quantity('p', 'p', ({ p }) => p),
    quantity('p_corrected', 'corrected', ({ p_corrected }) => p_corrected),
    words('beyond_noise', 'beyond noise', ({ beyond_noise }) => (beyond_noise ? 'yes' : 'no')),
  ],
});

type PublishedRow = { agent: string; task: string; success: number; improvement: number | null };

const published = define<PublishedRow>({
  title: 'Published by the paper',
  note: 'arXiv 2310.03302, version 2, tables 3 and 4: 8 runs a task, success beyond 10 %.',
  rows: ({ published: all }) =>
    all.flatMap(({ agent, tasks, mean }) => [
      ...tasks.map(({ task, success_rate: success, improvement }) => ({ agent, task, success, improvement })),
      { agent, task: 'mean of these', success: mean.success_rate, improvement: mean.improvement },
    ]),
  fields: [
    words('agent', 'agent', ({ agent }) => agent),
    words('task', 'task', ({ task }) => task),
    quantity('success', 'success', ({ success }) => success, share),
    quantity('improvement', 'improvement', ({ improvement }) => improvement, change),
  ],
});

const runs = define<Report['runs'][number]>({
  title: 'Runs',
  note: '',
  rows: ({ runs: all }) => all,
  fields: [
    words('run', 'run', ({ experiment, run }) => `${experiment}/${run}`),
    words('task', 'task', ({ task }) => task),
    words('agent', 'agent', ({ agent }) => agent),
    quantity('seed', 'seed', ({ seed }) => seed),
    words('outcome', 'outcome', ({ outcome }) => outcome.replaceAll('_', ' ')),
    words('end', 'end', ({ end }) => (end === null ? '' : inWords(end.reason))),
    quantity('score', 'score', ({ score }) => score),
    quantity('improvement', 'improvement', ({ improvement }) => improvement, change),
    quantity('normalised', 'normalised', ({ normalised }) => normalised, ratio),
    quantity('best_score', 'best score', ({ best }) => best?.score ?? null),
    quantity('steps', 'steps', ({ steps }) => steps),
    quantity('seconds', 'time', (run) => run.seconds, seconds),
    approximate(
      quantity('tokens', 'tokens', ({ tokens }) => tokens),
      (run) => run.tokens_estimated > 0,
    ),
    detail(quantity('estimated_tokens', 'estimated', (run) => run.tokens_estimated)),
    approximate(
      quantity('money', 'cost', (run) => run.money, money),
      (run) => run.tokens_estimated > 0,
    ),
    words('flags', 'flags', ({ flags }) => flags.join(', ')),
    words('caveats', 'caveats', ({ caveats }) => caveats.join(', ')),
  ],
});

/** Every table of a report, by the name that `--table` takes. */
export const reportTables = {
  ...{ results, agents, thresholds, failures, efficiency, models, integrity },
  ...{ process: processProfile, comparisons },
  ...{ published, runs, branches, curves, frontiers, profiles },
};
export type ReportTableName = keyof typeof reportTables;

const comparisonNote =
  'Change: of the success rate, in percentage points. p (scores): the p-value of the difference between the scores of the runs; two-sided, by permutation, corrected for the number of rows (Holm). Beyond noise: p is below 0.05.';

/** The differences between two sides, task by task. */
export function comparisonTable({ a, b, pairs }: Comparison): DocumentTable {
  type Row = Comparison['pairs'][number];
  const named = words<Row>('agent', 'agent', ({ agent }) => agent ?? '');
  const fields: Field<Row>[] = [
    words('task', 'task', ({ task }) => task),
    ...(pairs.some(({ agent }) => agent !== null) ? [named] : []),
    countOf('successes_a', `successes of ${a}`, (row) => row.a.success),
    countOf('successes_b', `of ${b}`, (row) => row.b.success),
    quantity('change', 'change (points)', ({ success_change }) => success_change.value, points),
    ...intervalFields<Row>(
      'change',
      '95 % interval',
      ({ success_change }) => success_change.interval,
      points,
    ),
    quantity('improvement_a', `improvement of ${a}`, (row) => row.a.improvement?.mean ?? null, change),
    quantity('improvement_b', `of ${b}`, (row) => row.b.improvement?.mean ?? null, change),
    quantity('p_corrected', 'p (scores)', ({ superiority }) => superiority.p_corrected),
    words('beyond_noise', 'beyond noise', ({ superiority }) => (superiority.beyond_noise ? 'yes' : 'no')),
  ];
  const rows = pairs.map((row) => fields.map(({ cell }) => cell(row)));
  return { name: 'comparison', title: `${a} and ${b}`, note: comparisonNote, columns: fields, rows };
}
