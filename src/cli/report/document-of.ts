import { UserError } from '../../lib/errors.ts';
import { nearest } from '../../lib/nearest.ts';
import type { FurtherCosts } from '../../runs/index.ts';
import type { Comparison, Report, ReportRun } from '../../schema/index.ts';
import { counted, dollars } from '../table.ts';
import type { ReportDocument } from './document.ts';
import { comparisonTable, type ReportTableName, reportTables } from './tables.ts';

export const tableNames = Object.keys(reportTables) as ReportTableName[];

/** @throws UserError if there is no such table */
export function parseTableName(text: string): ReportTableName {
  const name = tableNames.find((known) => known === text);
  if (name !== undefined) return name;
  const meant = nearest(text, tableNames);
  throw new UserError(
    'bad_flag',
    `There is no table "${text}"${meant === null ? '' : `; did you mean "${meant}"?`}`,
    `The tables are: ${tableNames.join(', ')}.`,
  );
}

/** The tables that a person sees first; with `wide` all but the long lists of points behind plots. */
export function usualTables(report: Report, wide: boolean): ReportTableName[] {
  const isWorthwhile: Partial<Record<ReportTableName, boolean>> = {
    results: true,
    agents: report.tasks.length > 1,
    thresholds: wide,
    failures:
      wide || report.runs.some(({ outcome }) => outcome === 'infrastructure' || outcome === 'unfinished'),
    efficiency: wide,
    models: wide || report.runs.some(({ models = [] }) => models.length > 1),
    integrity: wide || report.rows.some(({ integrity }) => integrity.flagged > 0),
    process: wide,
    comparisons: wide && report.comparisons.length > 0,
    published: report.published.length > 0,
    frontiers: wide && report.agents.length > 1,
    runs: wide,
    branches: wide && report.runs.some((run) => run.branches !== undefined),
  };
  return tableNames.filter((name) => isWorthwhile[name] === true);
}

/** What a reader must know besides the report itself. */
interface Circumstances {
  /** Runs that are left out because they can't be read. */
  unreadable?: readonly string[];
  /** Those of them that a newer mlab wrote; the files of the others are damaged. */
  newer?: readonly string[];
  further?: FurtherCosts;
  /** Sentences about experiments that were copied or renamed. */
  identities?: readonly string[];
}

/** A report with the requested tables. */
export function documentOf(
  report: Report,
  comparison: Comparison | null,
  names: readonly ReportTableName[],
  circumstances: Circumstances = {},
): ReportDocument {
  const { unreadable = [], newer = [], further = noFurtherCosts, identities = [] } = circumstances;
  const damaged = unreadable.filter((run) => !newer.includes(run));
  const { experiments, runs, agents, tasks } = report;
  const compared = comparison === null ? [] : [comparisonTable(comparison)];
  return {
    title: experiments.join(', '),
    summary: [
      `${counted(runs.length, 'run')} of ${counted(agents.length, 'agent')} on ${counted(tasks.length, 'task')}${costText(runs, further)}. ${conventions[report.convention]}`,
      ...identities,
      ...(damaged.length === 0 ? [] : [`Left out because their files are damaged: ${damaged.join(', ')}.`]),
      ...(newer.length === 0 ? [] : [`Left out because a newer mlab wrote them: ${newer.join(', ')}.`]),
      ...(comparison?.sentences ?? []),
    ],
    tables: [...compared, ...names.map((name) => reportTables[name](name, report))],
  };
}

const nothing = { money: 0, estimated: false, unpriced: 0 };
const noFurtherCosts: FurtherCosts = { discarded: nothing, branches: nothing, shared: nothing };

/**
 * What was paid for all runs together, as far as it is known: each call once. Empty if none called a language model.
 */
function costText(runs: Report['runs'], { discarded, branches, shared }: FurtherCosts): string {
  const ofRuns = {
    money: runs.reduce((total, run) => total + knownMoney(run), 0),
    estimated: runs.some((run) => run.tokens_estimated > 0),
    unpriced: runs.filter(({ money }) => money === null).length,
  };
  const more = [
    ...furtherText(branches, 'branch that people began', 'branches that people began'),
    ...furtherText(discarded, 'discarded attempt', 'discarded attempts'),
  ];
  if (ofRuns.money === 0 && more.length === 0 && ofRuns.unpriced === 0) return '';
  if (ofRuns.money + branches.money + discarded.money === 0 && ofRuns.unpriced > 0)
    return [`, the cost of ${counted(ofRuns.unpriced, 'run')} is not known`, ...more].join(', ');
  return [
    `, ${about({ ...ofRuns, money: Math.max(0, ofRuns.money - shared.money) })} in all`,
    ...(ofRuns.unpriced === 0 ? [] : [`without calls of unknown cost in ${counted(ofRuns.unpriced, 'run')}`]),
    ...(shared.money > 0
      ? [`without the ${about(shared)} that forks share with the runs they began from`]
      : []),
    ...more,
  ].join(', ');
}

/** Ids of the runs of an experiment that a report has: their costs are added up. */
export function reportedRuns({ runs }: Pick<Report, 'runs'>, name: string): ReadonlySet<string> {
  return new Set(runs.flatMap((line) => (line.experiment === name ? [line.run] : [])));
}

/** Of calls with a known price. */
function knownMoney({ money, models = [] }: ReportRun): number {
  return money ?? models.reduce((sum, model) => sum + (model.money ?? 0), 0);
}

/** Empty if nothing was paid there. */
function furtherText(cost: FurtherCosts['shared'], one: string, several: string): string[] {
  const unpriced = `calls of unknown cost in ${cost.unpriced} `;
  if (cost.money > 0)
    return [
      `plus ${about(cost)} in ${several}`,
      ...(cost.unpriced === 0 ? [] : [`without ${unpriced}of them`]),
    ];
  return cost.unpriced === 0 ? [] : [`plus ${unpriced}${cost.unpriced === 1 ? one : several}`];
}

function about({ money, estimated }: Pick<FurtherCosts['shared'], 'money' | 'estimated'>): string {
  return `${estimated ? '≈ ' : ''}${dollars(money)}`;
}

const conventions: Readonly<Record<Report['convention'], string>> = {
  every_run: 'Every run that ended counts. Intervals: 95 %.',
  paper:
    "The paper's convention: infrastructure failures are left out, success is an improvement beyond 10 %, compared with the paper's own baselines where it has some.",
};
