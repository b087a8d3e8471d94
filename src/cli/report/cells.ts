import type {
  Estimate,
  MeanEfficiency,
  Rate,
  RateMean,
  ReportInterval,
  TaskMean,
} from '../../schema/index.ts';
import { dollars, duration, interval, number, percent, size, withMinus } from '../table.ts';
import type { DocumentCell, DocumentColumn } from './document.ts';

/** A column with the function that makes its cell for a row. */
export interface Field<Row> extends DocumentColumn {
  cell: (row: Row) => DocumentCell;
}

export function words<Row>(name: string, title: string, of: (row: Row) => string): Field<Row> {
  return { name, title, cell: (row) => ({ text: of(row), value: of(row) }) };
}

export function quantity<Row>(
  name: string,
  title: string,
  of: (row: Row) => number | null,
  show: (value: number | null) => string = number,
): Field<Row> {
  return { name, title, align: 'right', cell: (row) => ({ text: show(of(row)), value: of(row) }) };
}

export const share = (value: number | null) => percent(value);
export const change = (value: number | null) => percent(value, true);
/** The difference of two shares in percentage points. */
export const points = (value: number | null) => change(value).replace(' %', '');
/** For normalised scores: 0 is the baseline, 1 the reference solution. */
export const ratio = (value: number | null) => (value === null ? '–' : withMinus(value.toFixed(2)));
export const seconds = (value: number | null) => duration(value);
export const money = (value: number | null) => dollars(value);
export const bytes = (value: number | null) => (value === null ? '–' : size(value));

/** Marks estimated values. */
export function approximate<Row>(field: Field<Row>, isEstimated: (row: Row) => boolean): Field<Row> {
  return {
    ...field,
    cell: (row) => {
      const shown = field.cell(row);
      const isKnown = typeof shown.value === 'number' && shown.value !== 0;
      return isKnown && isEstimated(row) ? { ...shown, text: `≈ ${shown.text}` } : shown;
    },
  };
}

/** The mean cost of a run. If only some of the costs are known, also how many. */
export function costField<Row>(of: (row: Row) => MeanEfficiency | null): Field<Row> {
  return {
    ...{ name: 'money', title: 'cost', align: 'right' },
    cell: (row) => {
      const efficiency = of(row);
      if (efficiency === null) return { text: '–', value: null };
      const { money: mean, priced, runs } = efficiency;
      const counts = mean === null || priced === runs ? '' : ` (${priced} of ${runs} known)`;
      return { text: `${money(mean)}${counts}`, value: mean };
    },
  };
}

/** A column for wide pages only. */
export function detail<Row>(field: Field<Row>): Field<Row> {
  return { ...field, isDetail: true };
}

/** A column that a narrow terminal does without, the one with the largest number first. */
export function spare<Row>(order: number, field: Field<Row>): Field<Row> {
  return { ...field, spare: order };
}

/** What a reader must know before trusting a row. */
export function caveatColumn<Row>(of: (row: Row) => string): Field<Row> {
  return { ...words('caveats', '', of), isCaveat: true };
}

interface Counts {
  successes: number;
  runs: number;
}

/** `3 of 8`. */
export function countOf<Row>(name: string, title: string, of: (row: Row) => Counts | null): Field<Row> {
  return {
    ...{ name, title, align: 'right' },
    cell: (row) => {
      const counts = of(row);
      return { text: countText(counts), value: counts?.successes ?? null };
    },
  };
}

function countText(counts: Counts | null): string {
  return counts === null ? '–' : `${counts.successes} of ${counts.runs}`;
}

/** A rate with its counts: `37.5 % (3 of 8)`. */
export function countedRate<Row>(
  name: string,
  title: string,
  of: (row: Row) => Rate | RateMean | null,
): Field<Row> {
  return {
    ...{ name, title, align: 'right' },
    cell: (row) => {
      const found = of(row);
      const value = found === null ? null : 'rate' in found ? found.rate : found.mean;
      return { text: value === null ? '–' : `${share(value)} (${countText(found)})`, value };
    },
  };
}

/** A rate with the bounds of its interval. */
export function rateFields<Row>(name: string, title: string, of: (row: Row) => Rate): Field<Row>[] {
  return [
    quantity(name, title, (row) => of(row).rate, share),
    ...intervalFields<Row>(name, '95 % interval', (row) => of(row).interval, share),
  ];
}

/** A mean over tasks with the bounds of its interval. */
export function meanFields<Row>(
  name: string,
  title: string,
  of: (row: Row) => TaskMean | null,
  show = share,
): Field<Row>[] {
  return [
    quantity(name, title, (row) => of(row)?.mean ?? null, show),
    ...intervalFields<Row>(name, '95 % interval', (row) => of(row)?.interval ?? null, show),
  ];
}

/** The mean of an estimate with the bounds of its interval. */
export function estimateFields<Row>(
  name: string,
  title: string,
  of: (row: Row) => Estimate | null,
  show = change,
): Field<Row>[] {
  return [
    quantity(name, title, (row) => of(row)?.mean ?? null, show),
    ...intervalFields<Row>(name, '95 % interval', (row) => of(row)?.mean_interval ?? null, show),
  ];
}

/** One column for people, two for machines. */
export function intervalFields<Row>(
  name: string,
  title: string,
  of: (row: Row) => ReportInterval | null,
  show: (value: number | null) => string,
): Field<Row>[] {
  return [
    {
      ...{ name: `${name}_low`, title, align: 'right', also: [`${name}_high`], isInterval: true },
      cell: (row) => {
        const bounds = of(row);
        const text = bounds === null ? '–' : interval(bounds, show);
        return { text, value: bounds?.low ?? null, also: [bounds?.high ?? null] };
      },
    },
  ];
}

/** How a run ended, in words. Traces say `infrastructure_error`. */
export function inWords(reason: string): string {
  return reason === 'infrastructure_error' ? 'infrastructure failure' : reason.replaceAll('_', ' ');
}
