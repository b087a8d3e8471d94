import type { Metric } from '../../schema/index.ts';
import { readMetric } from '../search/metric-reader.ts';

/** Sums in a different order differ by rounding. */
const tolerance = 1e-6;

/**
 * If a metric is a time, everything else in a script's output shows what it computed. Null if a version printed the
 * same as the earlier runs, or, if no earlier runs are given, nothing is required; otherwise the difference, as part of
 * a sentence. Lines in which the earlier runs differ among themselves do not count. `isProofNeeded`: the lines must
 * contain at least one number.
 */
export function sameResults(
  earlier: readonly string[],
  printed: string,
  metric: Metric,
  isProofNeeded: boolean,
): string | null {
  const [first, ...others] = earlier.map((output) => resultLines(output, metric));
  if (first === undefined) return null;
  const constant = first.filter((line) => others.every((lines) => lines.some((each) => isSame(line, each))));
  if (isProofNeeded && !constant.some((line) => /\d/.test(line)))
    return 'the script prints nothing that would show that its results stay the same';
  const now = resultLines(printed, metric);
  const lost = constant.find((line) => !now.some((each) => isSame(line, each)));
  return lost === undefined ? null : `it no longer prints "${lost.slice(0, 80)}"`;
}

/** Lines without a value of the metric. */
function resultLines(output: string, metric: Metric): string[] {
  const lines = output.split(/\r\n|\n|\r/).filter((line) => !/^\[.*\d s\]$/.test(line));
  return lines.filter((line) => line.trim() !== '' && readMetric(line, metric) === null);
}

const numbers = /[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?/gi;

/** The same words, and numbers that differ at most by rounding. */
function isSame(left: string, right: string): boolean {
  if (left === right) return true;
  if (left.replace(numbers, '#') !== right.replace(numbers, '#')) return false;
  const values = (text: string) => (text.match(numbers) ?? []).map(Number);
  const others = values(right);
  return values(left).every((value, place) => {
    const other = others[place] ?? Number.NaN;
    return Math.abs(value - other) <= tolerance * Math.max(Math.abs(value), Math.abs(other));
  });
}
