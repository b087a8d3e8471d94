import type { Report, ReportRun, RunEvaluation } from '../../schema/index.ts';
import { comparisonsOf } from './comparisons.ts';
import { withoutCopies } from './copies.ts';
import { curvesOf } from './curves.ts';
import { distinctAgents } from './distinct-agents.ts';
import { confidence, type ReportOptions, settingsOf } from './options.ts';
import { groupsOf, inOrder, pairsOf } from './pair-data.ts';
import { frontiersOf, heatMapOf, profileOf } from './plots.ts';
import { publishedColumns } from './published.ts';
import { rowOf } from './rows.ts';

/**
 * Everything that tables and plots need. The same evaluations in any order give the same report, byte for byte when
 * serialised. Definitions: docs/evaluation.md.
 */
export function buildReport(given: readonly RunEvaluation[], options: ReportOptions = {}): Report {
  const settings = settingsOf(options);
  const { evaluations, copies } = withoutCopies(given);
  const data = pairsOf(inOrder(distinctAgents(evaluations)), settings);
  const pairs = data.map(({ pair }) => pair);
  const tasks = [...new Set(pairs.map(({ task }) => task))];
  const byAgent = new Map([...Map.groupBy(data, ({ agent }) => agent)].sort(([a], [b]) => (a < b ? -1 : 1)));
  const agents = [...byAgent.keys()];
  return {
    v: 1,
    convention: settings.convention,
    confidence,
    resamples: settings.resamples,
    experiments: [...new Set(given.map(({ experiment }) => experiment))].sort(),
    ...(copies.length === 0 ? {} : { copies }),
    tasks,
    agents,
    pairs,
    rows: [...byAgent].map(([agent, ofAgent]) => rowOf(ofAgent, agent, settings)),
    comparisons: comparisonsOf(data, agents, settings),
    heat_map: heatMapOf(pairs, tasks, agents),
    curves: [...Map.groupBy(data, ({ task }) => task).values()].flatMap(curvesOf),
    frontiers: frontiersOf(pairs, tasks),
    profiles: [...byAgent].flatMap(([agent, ofAgent]) => profileOf(ofAgent, agent) ?? []),
    published: publishedColumns(tasks, options.published ?? {}),
    runs: data.flatMap(({ runs }) => runs.map(({ line }) => line)),
  };
}

/** Only the runs of a report, in its order. */
export function buildRuns(evaluations: readonly RunEvaluation[], options: ReportOptions = {}): ReportRun[] {
  return groupsOf(inOrder(distinctAgents(evaluations)), settingsOf(options)).flatMap((runs) =>
    runs.map(({ line }) => line),
  );
}
