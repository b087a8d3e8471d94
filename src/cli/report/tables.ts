import type { Comparison, Report, ReportCell, ReportRow, RunGroup } from '../../schema/index.ts';
import { counted, number, percent } from '../table.ts';
import { branches } from './branches-table.ts';
import {
  approximate,
  bytes,
  caveatColumn,
  change,
  costField,
  countedRate,
  countOf,
  detail,
  estimateFields,
  type Field,
  intervalFields,
  meanFields,
  money,
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

const taskAndAgent: Field<ReportCell>[] = [
  words('task', 'task', ({ task }) => task),
  words('agent', 'agent', ({ agent }) => agent),
];

const results = define<ReportCell>({
  title: 'Results',
  note: 'Success: the final submission improves on the baseline beyond the threshold of the task. Improvement and score: means over valid final submissions.',
  rows: ({ cells }) => cells,
  fields: [
    ...taskAndAgent,
    spare(
      2,
      countOf('successes', 'successes', ({ success }) => success),
    ),
    ...rateFields<ReportCell>('success', 'success', ({ success }) => success),
    detail({
      ...countedRate<ReportCell>('significant', 'significant', ({ significant }) => significant),
      note: 'Significant: also beyond the noise of the baseline.',
    }),
    ...estimateFields<ReportCell>('improvement', 'improvement', ({ improvement }) => improvement),
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

/** Whether some of its tokens, and so its cost, are estimates. */
function hasEstimates({ efficiency }: RunGroup): boolean {
  return efficiency !== null && estimatedTokens(efficiency) > 0;
}

function estimatedTokens({ tokens }: NonNullable<RunGroup['efficiency']>): number {
  return tokens.agent.estimated + tokens.tools.estimated;
}

/** What a reader must know before trusting a row. */
function caveats(group: RunGroup): string {
  const { outcomes, stale, unfinished, infrastructure, integrity, marks, ends } = group;
  const failures = sum(infrastructure);
  const crashes = ends.agent_error ?? 0;
  return [
    ...(crashes > 0 ? [`${crashes} ended by an error of the agent`] : []),
    ...(outcomes.invalid > 0 ? [`${outcomes.invalid} without a valid submission`] : []),
    ...(stale > 0 ? [`${stale} stale`] : []),
    ...(failures > 0 ? [counted(failures, 'infrastructure failure')] : []),
    ...(unfinished > 0 ? [`${unfinished} not finished or not graded`] : []),
    ...(integrity.flagged > 0 ? [`${integrity.flagged} flagged`] : []),
    ...new Set(marks.map(shortMark)),
  ].join(', ');
}

/** The text after a colon in a mark differs from run to run. */
function shortMark(mark: string): string {
  return mark.split(':', 1)[0] ?? mark;
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

const efficiency = define<ReportRow>({
  title: 'What runs used',
  note: 'Means of a run. Prompt tokens include cached ones, completion tokens include reasoning. ≈: some of them are estimated, as the provider did not count them. Waiting for providers counts against no limit and is not part of the time.',
  rows: ({ rows }) => rows.filter((row) => row.efficiency !== null),
  fields: [
    words('agent', 'agent', ({ agent }) => agent),
    quantity('steps', 'steps', ({ efficiency: e }) => e?.steps ?? null),
    approximate(
      quantity('agent_prompt_tokens', 'prompt', ({ efficiency: e }) => e?.tokens.agent.prompt ?? null),
      ({ efficiency: e }) => e !== null && e.tokens.agent.estimated > 0,
    ),
    quantity('agent_cached_tokens', 'cached', ({ efficiency: e }) => e?.tokens.agent.cached ?? null),
    approximate(
      quantity(
        'agent_completion_tokens',
        'completion',
        ({ efficiency: e }) => e?.tokens.agent.completion ?? null,
      ),
      ({ efficiency: e }) => e !== null && e.tokens.agent.estimated > 0,
    ),
    quantity('agent_reasoning_tokens', 'reasoning', ({ efficiency: e }) => e?.tokens.agent.reasoning ?? null),
    approximate(
      quantity('tools_tokens', 'of tools', ({ efficiency: e }) =>
        e === null ? null : e.tokens.tools.prompt + e.tokens.tools.completion,
      ),
      ({ efficiency: e }) => e !== null && e.tokens.tools.estimated > 0,
    ),
    detail(
      quantity('estimated_tokens', 'estimated', ({ efficiency: e }) =>
        e === null ? null : estimatedTokens(e),
      ),
    ),
    approximate(
      costField(({ efficiency: e }) => e),
      hasEstimates,
    ),
    quantity('seconds', 'time', ({ efficiency: e }) => e?.seconds.wall ?? null, seconds),
    quantity('model_seconds', 'model', ({ efficiency: e }) => e?.seconds.model ?? null, seconds),
    quantity('execution_seconds', 'execution', ({ efficiency: e }) => e?.seconds.execution ?? null, seconds),
    quantity('overhead_seconds', 'overhead', ({ efficiency: e }) => e?.seconds.overhead ?? null, seconds),
    quantity('waiting_seconds', 'waiting', ({ efficiency: e }) => e?.seconds.waiting ?? null, seconds),
    quantity('cpu_seconds', 'CPU', ({ efficiency: e }) => e?.cpu_seconds ?? null, seconds),
    quantity('gpu_seconds', 'GPU', ({ efficiency: e }) => e?.gpu_seconds ?? null, seconds),
    detail(
      quantity(
        'gpu_held_seconds',
        'GPUs held',
        ({ efficiency: e }) => e?.gpus?.held_seconds ?? null,
        seconds,
      ),
    ),
    detail(
      quantity(
        'gpu_busy_seconds',
        'GPUs busy',
        ({ efficiency: e }) => e?.gpus?.busy_seconds ?? null,
        seconds,
      ),
    ),
    detail(
      quantity(
        'gpu_peak_memory_bytes',
        'peak GPU memory',
        ({ efficiency: e }) => e?.gpus?.peak_memory_bytes ?? null,
        bytes,
      ),
    ),
    quantity('peak_memory_bytes', 'peak memory', ({ efficiency: e }) => e?.peak_memory_bytes ?? null, bytes),
    quantity('success_per_dollar', 'successes per $', ({ efficiency: e }) => e?.success_per_dollar ?? null),
    quantity('success_per_hour', 'successes per hour', ({ efficiency: e }) => e?.success_per_hour ?? null),
  ],
});

const failures = define<ReportRow>({
  title: 'Outcomes',
  note: 'Runs by outcome, and infrastructure failures by cause.',
  rows: ({ rows }) => rows,
  fields: [
    words('agent', 'agent', ({ agent }) => agent),
    quantity('runs', 'runs', ({ runs }) => runs),
    ...(
      ['success', 'small_improvement', 'no_improvement', 'invalid', 'infrastructure', 'unfinished'] as const
    ).map((outcome) =>
      quantity<ReportRow>(outcome, outcome.replaceAll('_', ' '), ({ outcomes }) => outcomes[outcome]),
    ),
    words('ends', 'ended by', ({ ends }) => countsText(ends)),
    words('causes', 'infrastructure', ({ infrastructure }) => countsText(infrastructure)),
    words('errors', 'kinds of errors', ({ errors }) => countsText(errors)),
  ],
});

function countsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name.replaceAll('_', ' ')} ${count}`)
    .join(', ');
}

const integrity = define<ReportRow>({
  title: 'Integrity',
  note: 'Flagged: something was tried that is not allowed. Doubted: the result itself is in question. The rates of success are with all runs, and without these.',
  rows: ({ rows }) => rows,
  fields: [
    words('agent', 'agent', ({ agent }) => agent),
    quantity('runs', 'runs', ({ runs }) => runs),
    quantity('flagged', 'flagged', ({ integrity: found }) => found.flagged),
    quantity('doubted', 'doubted', ({ integrity: found }) => found.doubted),
    words('kinds', 'for', ({ integrity: found }) => countsText(found.runs_by_kind)),
    countedRate('success', 'success', ({ rates }) => rates.all),
    countedRate('success_without_flagged', 'without flagged', ({ rates }) => rates.without_flagged),
    countedRate('success_without_doubted', 'without doubted', ({ rates }) => rates.without_doubted),
    countedRate(
      'success_without_infrastructure',
      'without infrastructure failures',
      ({ rates }) => rates.without_infrastructure,
    ),
  ],
});

/** A long table: agents would not fit side by side, and measures vary. */
const processProfile = define<{ agent: string; measure: string; value: number; runs: number | null }>({
  title: 'Process',
  note: 'Means over the runs that ended; for yes-or-no measures, the share of runs.',
  rows: ({ rows }) =>
    rows.flatMap(({ agent, process, process_runs: runs }) =>
      Object.entries(process).map(([measure, value]) => ({
        ...{ agent, measure, value, runs: runs[measure] ?? null },
      })),
    ),
  fields: [
    words('agent', 'agent', ({ agent }) => agent),
    words('measure', 'measure', ({ measure }) => measure.replaceAll('_', ' ').replace('.', ': ')),
    quantity('value', 'mean', ({ value }) => value),
    quantity('runs', 'runs', ({ runs }) => runs),
  ],
});

type Compared = { a: string; b: string; measure: string } & NonNullable<
  Report['comparisons'][number]['differences']['success']
>;

const comparisons = define<Compared>({
  title: 'Agents compared',
  note: 'The first minus the second, on the tasks that both have. p: two-sided, by permutation within tasks, corrected for the number of comparisons (Holm).',
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
    ...intervalFields<Compared>('bootstrap', 'bootstrap', ({ bootstrap }) => bootstrap, number),
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
    words('end', 'end', ({ end }) => end?.reason.replaceAll('_', ' ') ?? ''),
    quantity('score', 'score', ({ score }) => score),
    quantity('improvement', 'improvement', ({ improvement }) => improvement, change),
    quantity('normalised', 'normalised', ({ normalised }) => normalised, ratio),
    quantity('best_score', 'best step', ({ best }) => best?.score ?? null),
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
    words('marks', 'marks', ({ marks }) => marks.join(', ')),
  ],
});

/** Every table of a report, by the name that `--table` takes. */
export const reportTables = {
  ...{ results, agents, thresholds, failures, efficiency, integrity, process: processProfile, comparisons },
  ...{ published, runs, branches, curves, frontiers, profiles },
};
export type ReportTableName = keyof typeof reportTables;

/** The differences between two sides, task by task. */
export function comparisonTable({ a, b, cells }: Comparison): DocumentTable {
  type Row = Comparison['cells'][number];
  const fields: Field<Row>[] = [
    words('task', 'task', ({ task }) => task),
    words('agent', 'agent', ({ agent }) => agent ?? ''),
    countOf('successes_a', `successes of ${a}`, (row) => row.a.success),
    countOf('successes_b', `of ${b}`, (row) => row.b.success),
    quantity('change', 'change', ({ success_change }) => success_change.value, change),
    ...intervalFields<Row>(
      'change',
      '95 % interval',
      ({ success_change }) => success_change.interval,
      change,
    ),
    quantity('improvement_a', `improvement of ${a}`, (row) => row.a.improvement?.mean ?? null, change),
    quantity('improvement_b', `of ${b}`, (row) => row.b.improvement?.mean ?? null, change),
    quantity('p_corrected', 'p of better scores', ({ superiority }) => superiority.p_corrected),
    words('beyond_noise', 'beyond noise', ({ superiority }) => (superiority.beyond_noise ? 'yes' : 'no')),
  ];
  const rows = cells.map((row) => fields.map(({ cell }) => cell(row)));
  return { name: 'comparison', title: `${a} and ${b}`, note: '', columns: fields, rows };
}
