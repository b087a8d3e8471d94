import { isMet, type Measurement } from './benchmark.ts';
import type { Machine } from './machine.ts';

/** The result of one benchmark. */
export interface BenchmarkResult {
  name: string;
  seconds: number;
  measurements: Measurement[];
  /** Why it could not be measured; null if it was. */
  missing: string | null;
}

export interface Report {
  machine: Machine;
  quick: boolean;
  benchmarks: BenchmarkResult[];
}

/** Everything was measured and no target was missed. */
export function allMet({ benchmarks }: Report): boolean {
  return benchmarks.every(({ missing, measurements }) => missing === null && measurements.every(isMet));
}

export function reportText(report: Report): string {
  const { processor, cores, memory_mb, system, node, files, load } = report.machine;
  const rows = report.benchmarks.flatMap(rowsOf);
  return [
    table([['', 'what', 'value', 'target', 'met', 'how'], ...rows]),
    '',
    `${processor}, ${cores} cores, ${memory_mb} MiB; ${system}, Node ${node}, ${files}; load ${load.toFixed(1)}`,
    ...(report.quick ? ['--quick: too short for the numbers to mean much.'] : []),
    ...(load > 0.5 ? ['Others were at work on this machine: times are too high rather than too low.'] : []),
  ].join('\n');
}

function rowsOf({ name, missing, measurements }: BenchmarkResult): string[][] {
  if (missing !== null) return [[name, `could not be measured: ${missing}`, '', '', 'no', '']];
  return measurements.map((measurement, index) => [
    index === 0 ? name : '',
    measurement.what,
    shown(measurement.value, measurement.unit),
    measurement.atMost === null ? '' : `≤ ${shown(measurement.atMost, measurement.unit)}`,
    measurement.atMost === null ? '' : isMet(measurement) ? 'yes' : 'NO',
    measurement.note,
  ]);
}

function shown(value: number, unit: string): string {
  if (unit === 'bytes') {
    return Math.abs(value) >= 1e6 ? `${(value / 1e6).toFixed(1)} MB` : `${(value / 1e3).toFixed(1)} kB`;
  }
  const digits = Number.isInteger(value) ? 0 : Math.abs(value) < 10 ? 2 : 1;
  return `${value.toFixed(digits)}${unit === '' ? '' : ` ${unit}`}`;
}

function table(rows: readonly string[][]): string {
  const columns = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.filter((row) => row.length > column).map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
