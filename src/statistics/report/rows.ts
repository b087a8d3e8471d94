import type { ReportRow, TaskMean } from '../../schema/index.ts';
import { bootstrapInterval, resampleInterquartileMean } from '../numeric/bootstrap.ts';
import { randomOf } from '../numeric/random.ts';
import { interquartileMean } from '../summary.ts';
import { meanOfMeans, meanOfRates } from './measured.ts';
import { confidence, type ReportSettings, thresholds } from './options.ts';
import { type PairData, passesOf } from './pairs.ts';
import { groupOf } from './run-group.ts';

/** @param pairs of one agent, at least one */
export function rowOf(pairs: readonly PairData[], agent: string, settings: ReportSettings): ReportRow {
  const all = pairs.map(({ pair }) => pair);
  const variant = (name: keyof ReportRow['rates']) => meanOfRates(all.map(({ rates }) => rates[name]));
  return {
    agent,
    tasks: all.map(({ task }) => task),
    ...groupOf(pairs.flatMap(({ runs }) => runs)),
    success: meanOfRates(all.map((pair) => pair.success)),
    rates: {
      all: variant('all'),
      without_infrastructure: variant('without_infrastructure'),
      without_flagged: variant('without_flagged'),
      without_doubted: variant('without_doubted'),
    },
    significant: meanOfRates(all.map(({ significant }) => significant)),
    thresholds: thresholds.map((threshold, index) => ({
      threshold,
      end: meanOfRates(all.flatMap((pair) => pair.thresholds[index]?.end ?? [])),
      any_step: meanOfRates(all.flatMap((pair) => pair.thresholds[index]?.any_step ?? [])),
    })),
    improvement: meanImprovement(meanOfMeans(pairs.map((pair) => pair.improvement)), pairs, settings),
    improvement_of_all: meanOfMeans(pairs.map((pair) => pair.improvementOfAll)),
    normalised: meanOfMeans(pairs.map((pair) => pair.normalised)),
    normalised_iqm: interquartile(pairs, agent, settings),
    pass_at: passesOf(all.map((pair) => pair.success)),
  };
}

/** The paper's average counts a task without any valid submission as 0 (its table 4); ours leaves it out. */
function meanImprovement(
  known: TaskMean | null,
  pairs: readonly PairData[],
  { convention }: ReportSettings,
): TaskMean | null {
  const tasks = pairs.filter(({ inRate }) => inRate.length > 0).length;
  if (convention !== 'paper' || tasks === 0) return known;
  const share = (known?.tasks ?? 0) / tasks;
  return {
    tasks,
    runs: known?.runs ?? 0,
    mean: (known?.mean ?? 0) * share,
    interval: known?.interval ? { low: known.interval.low * share, high: known.interval.high * share } : null,
  };
}

function interquartile(
  pairs: readonly PairData[],
  agent: string,
  settings: ReportSettings,
): ReportRow['normalised_iqm'] {
  const strata = pairs.map(({ normalised }) => normalised).filter(({ length }) => length > 0);
  if (strata.length === 0) return null;
  const random = randomOf(JSON.stringify([agent, 'normalised_iqm']));
  const sizes = strata.map(({ length }) => length);
  const samples = resampleInterquartileMean(strata, settings.resamples, random);
  return {
    value: interquartileMean(strata.flat()),
    interval: bootstrapInterval(samples, sizes, confidence),
  };
}
