import type { Frontier, PerformanceProfile, Report, ReportCell, TaskId } from '../../schema/index.ts';
import { isOnFrontier } from '../numeric/frontier.ts';
import { meanRateInterval } from '../numeric/rate-intervals.ts';
import { mean } from '../summary.ts';
import type { CellData } from './cells.ts';
import { countsOf } from './measured.ts';
import { moneyOfAll } from './run-group.ts';

/** Normalised scores at which profiles are computed: 0 … 1.5. */
const levels = Array.from({ length: 31 }, (_, index) => index / 20);

/**
 * Share of an agent's runs with a normalised score above each level, with an interval at each (Dolan & Moré 2002,
 * doi:10.1007/s101070100263; score distributions of Agarwal et al. 2021, arXiv 2108.13264).
 * @returns null if there are no normalised scores
 */
export function profileOf(cells: readonly CellData[], agent: string): PerformanceProfile | null {
  const tasks = cells.flatMap(({ normalised }) => (normalised === null ? [] : [normalised.values]));
  if (tasks.length === 0) return null;
  const counted = levels.map((level) =>
    tasks.map((values) => ({
      successes: values.filter((value) => value > level).length,
      runs: values.length,
    })),
  );
  const intervals = counted.map(meanRateInterval);
  return {
    agent,
    runs: tasks.flat().length,
    levels,
    share: counted.map((strata) => mean(strata.map(({ successes, runs }) => successes / runs))),
    low: intervals.map(({ low }) => low),
    high: intervals.map(({ high }) => high),
  };
}

export function heatMapOf(
  cells: readonly ReportCell[],
  tasks: readonly TaskId[],
  agents: readonly string[],
): Report['heat_map'] {
  const matrix = (read: (cell: ReportCell) => number | null | undefined) =>
    tasks.map((task) => {
      const ofTask = cells.filter((cell) => cell.task === task);
      return agents.map((agent) => {
        const cell = ofTask.find((one) => one.agent === agent);
        return cell === undefined ? null : (read(cell) ?? null);
      });
    });
  return {
    success: matrix(({ success }) => success.rate),
    improvement: matrix(({ improvement }) => improvement?.mean),
    normalised: matrix(({ normalised }) => normalised?.mean),
  };
}

/** The frontier of each task, and the one over the tasks that all agents have. */
export function frontiersOf(cells: readonly ReportCell[], tasks: readonly TaskId[]): Frontier[] {
  const agents = [...new Set(cells.map(({ agent }) => agent))];
  const isCommon = (task: TaskId) => cells.filter((cell) => cell.task === task).length === agents.length;
  const common = cells.filter(({ task }) => isCommon(task));
  return (['money', 'seconds'] as const).flatMap((cost) => [
    ...frontierOf(null, cost, common),
    ...tasks.flatMap((task) =>
      frontierOf(
        task,
        cost,
        cells.filter((cell) => cell.task === task),
      ),
    ),
  ]);
}

/** @returns none if no agent has both a cost and a rate */
function frontierOf(task: TaskId | null, cost: Frontier['cost'], cells: readonly ReportCell[]): Frontier[] {
  const byAgent = [...Map.groupBy(cells, ({ agent }) => agent)];
  const offers = byAgent.flatMap(([agent, ofAgent]) => {
    const mean = meanOverTasks(ofAgent.map((cell) => costOf(cell, cost)));
    const success = meanOverTasks(ofAgent.map((cell) => cell.success.rate));
    const counts = countsOf(ofAgent.map((cell) => cell.success));
    return mean === null || success === null ? [] : [{ agent, cost: mean, success, ...counts }];
  });
  if (offers.length === 0) return [];
  const points = offers.map((offer) => ({ ...offer, on_frontier: isOnFrontier(offer, offers) }));
  return [{ task, cost, points }];
}

function costOf({ efficiency }: ReportCell, cost: Frontier['cost']): number | null {
  return cost === 'money' ? moneyOfAll(efficiency) : (efficiency?.seconds.wall ?? null);
}

/** Null if a task has no value. */
function meanOverTasks(values: readonly (number | null)[]): number | null {
  const known = values.flatMap((value) => value ?? []);
  return known.length === 0 || known.length < values.length ? null : mean(known);
}
