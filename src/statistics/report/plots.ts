import type { Frontier, PerformanceProfile, Report, ReportPair, TaskId } from '../../schema/index.ts';
import { isOnFrontier } from '../numeric/frontier.ts';
import { meanRateInterval } from '../numeric/rate-intervals.ts';
import { mean } from '../summary.ts';
import { countsOf } from './measured.ts';
import type { PairData } from './pairs.ts';
import { moneyOfAll } from './run-group.ts';

/** Normalised scores at which profiles are computed: 0 … 1.5. */
const levels = Array.from({ length: 31 }, (_, index) => index / 20);

/**
 * Share of an agent's runs with a normalised score above each level, with an interval at each (Dolan & Moré 2002,
 * doi:10.1007/s101070100263; score distributions of Agarwal et al. 2021, arXiv 2108.13264).
 * @returns null if there are no normalised scores
 */
export function profileOf(pairs: readonly PairData[], agent: string): PerformanceProfile | null {
  const tasks = pairs.map(({ normalised }) => normalised).filter(({ length }) => length > 0);
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
  pairs: readonly ReportPair[],
  tasks: readonly TaskId[],
  agents: readonly string[],
): Report['heat_map'] {
  const matrix = (read: (pair: ReportPair) => number | null | undefined) =>
    tasks.map((task) => {
      const ofTask = pairs.filter((pair) => pair.task === task);
      return agents.map((agent) => {
        const pair = ofTask.find((one) => one.agent === agent);
        return pair === undefined ? null : (read(pair) ?? null);
      });
    });
  return {
    success: matrix(({ success }) => success.rate),
    improvement: matrix(({ improvement }) => improvement?.mean),
    normalised: matrix(({ normalised }) => normalised?.mean),
  };
}

/** The frontier of each task, and the one over the tasks that all agents have. */
export function frontiersOf(pairs: readonly ReportPair[], tasks: readonly TaskId[]): Frontier[] {
  const agents = [...new Set(pairs.map(({ agent }) => agent))];
  const isCommon = (task: TaskId) => pairs.filter((pair) => pair.task === task).length === agents.length;
  const common = pairs.filter(({ task }) => isCommon(task));
  return (['money', 'seconds'] as const).flatMap((cost) => [
    ...frontierOf(null, cost, common),
    ...tasks.flatMap((task) =>
      frontierOf(
        task,
        cost,
        pairs.filter((pair) => pair.task === task),
      ),
    ),
  ]);
}

/** @returns none if no agent has both a cost and a rate */
function frontierOf(task: TaskId | null, cost: Frontier['cost'], pairs: readonly ReportPair[]): Frontier[] {
  const byAgent = [...Map.groupBy(pairs, ({ agent }) => agent)];
  const offers = byAgent.flatMap(([agent, ofAgent]) => {
    const mean = meanOverTasks(ofAgent.map((pair) => costOf(pair, cost)));
    const success = meanOverTasks(ofAgent.map((pair) => pair.success.rate));
    const counts = countsOf(ofAgent.map((pair) => pair.success));
    return mean === null || success === null ? [] : [{ agent, cost: mean, success, ...counts }];
  });
  if (offers.length === 0) return [];
  const points = offers.map((offer) => ({ ...offer, on_frontier: isOnFrontier(offer, offers) }));
  return [{ task, cost, points }];
}

function costOf({ efficiency }: ReportPair, cost: Frontier['cost']): number | null {
  return cost === 'money' ? moneyOfAll(efficiency) : (efficiency?.seconds.wall ?? null);
}

/** Null if a task has no value. */
function meanOverTasks(values: readonly (number | null)[]): number | null {
  const known = values.flatMap((value) => value ?? []);
  return known.length === 0 || known.length < values.length ? null : mean(known);
}
