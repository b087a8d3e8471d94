import type { ReportRow, TaskMean } from '../../schema/index.ts';
import { bootstrapInterval, resampleInterquartileMean } from '../numeric/bootstrap.ts';
import { randomOf } from '../numeric/random.ts';
import { interquartileMean } from '../summary.ts';
import { type CellData, passesOf } from './cells.ts';
import { type Measured, meanOfMeans, meanOfRates } from './measured.ts';
import { confidence, type Settings, thresholds } from './options.ts';
import { groupOf } from './run-group.ts';

/** @param cells of one agent, at least one */
export function rowOf(cells: readonly CellData[], agent: string, settings: Settings): ReportRow {
  const all = cells.map(({ cell }) => cell);
  const measured = (read: (cell: CellData) => Measured | null) =>
    meanOfMeans(cells.flatMap((cell) => read(cell) ?? []));
  const success = meanOfRates(all.map((cell) => cell.success));
  const variant = (name: keyof ReportRow['rates']) => meanOfRates(all.map(({ rates }) => rates[name]));
  return {
    agent,
    tasks: all.map(({ task }) => task),
    ...groupOf(cells.flatMap(({ runs }) => runs)),
    success:
      success === null ? null : { ...success, bootstrap: measured((cell) => cell.success)?.interval ?? null },
    rates: {
      all: variant('all'),
      without_infrastructure: variant('without_infrastructure'),
      without_flagged: variant('without_flagged'),
      without_doubted: variant('without_doubted'),
    },
    significant: meanOfRates(all.map(({ significant }) => significant)),
    thresholds: thresholds.map((threshold, index) => ({
      threshold,
      end: meanOfRates(all.flatMap((cell) => cell.thresholds[index]?.end ?? [])),
      any_step: meanOfRates(all.flatMap((cell) => cell.thresholds[index]?.any_step ?? [])),
    })),
    improvement: meanImprovement(
      measured((cell) => cell.improvement),
      cells,
      settings,
    ),
    improvement_of_all: measured((cell) => cell.improvementOfAll),
    normalised: measured((cell) => cell.normalised),
    normalised_iqm: interquartile(cells, agent, settings),
    pass_at: passesOf(all.map((cell) => cell.success)),
  };
}

/** The paper's average counts a task without any valid submission as 0 (its table 4); ours leaves it out. */
function meanImprovement(
  known: TaskMean | null,
  cells: readonly CellData[],
  { convention }: Settings,
): TaskMean | null {
  const tasks = cells.filter(({ inRate }) => inRate.length > 0).length;
  if (convention !== 'paper' || tasks === 0) return known;
  const share = (known?.tasks ?? 0) / tasks;
  return {
    tasks,
    mean: (known?.mean ?? 0) * share,
    interval: known?.interval ? { low: known.interval.low * share, high: known.interval.high * share } : null,
  };
}

function interquartile(
  cells: readonly CellData[],
  agent: string,
  settings: Settings,
): ReportRow['normalised_iqm'] {
  const strata = cells.flatMap(({ normalised }) => (normalised === null ? [] : [normalised.values]));
  if (strata.length === 0) return null;
  const random = randomOf(JSON.stringify([agent, 'normalised_iqm']));
  const sizes = strata.map(({ length }) => length);
  const samples = resampleInterquartileMean(strata, settings.resamples, random);
  return {
    value: interquartileMean(strata.flat()),
    interval: bootstrapInterval(samples, sizes, confidence),
  };
}
