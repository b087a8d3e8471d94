import type { Claim } from './claims.ts';
import { type MetricNumber, metricNumbers } from './metric-words.ts';
import type { TranscriptStep } from './run-transcript.ts';
import { type NumberToken, tokensOf } from './words.ts';

/** Longer lines are dumps of data or progress bars: their numbers count, but no metric is read from them. */
const longestReading = 400;
/** The limit for one output: a bit more than the environment ever shows. */
const longestOutput = 100_000;
/** Metric values from which differences and ratios are formed: the last one of each label, for the newest labels. */
const maxReadings = 60;

/** What was measured so far in a run, and what was given without a measurement. */
export class Measurements {
  readonly #numbers = new Map<number, NumberToken>();
  readonly #given = new Set<number>();
  readonly #readings = new Map<string, MetricNumber>();
  readonly #means: number[] = [];

  /** Adds the output of a script or command, or a file that one wrote. */
  measure({ numbers, readings }: OutputNumbers): void {
    for (const number of numbers) this.#numbers.set(number.value, number);
    const seen = new Map<string, number[]>();
    for (const reading of readings) {
      const key = `${reading.metric} ${reading.label}`;
      this.#readings.delete(key);
      this.#readings.set(key, reading);
      const values = seen.get(key);
      if (values === undefined) seen.set(key, [reading.number.value]);
      else values.push(reading.number.value);
    }
    for (const values of seen.values()) {
      if (values.length > 1) this.#means.push(values.reduce((sum, value) => sum + value, 0) / values.length);
    }
  }

  /** Adds the task's text, and files that no step wrote. */
  tell(text: string): void {
    for (const { value } of numbersOf(text).numbers) this.#given.add(value);
  }

  isGiven({ number }: Claim): boolean {
    return this.#given.has(number.value);
  }

  /** Whether the claim is a measured number, up to rounding, or a difference, ratio or mean of such numbers. */
  supports(claim: Claim): boolean {
    return (
      this.#isMeasured(claim.number) ||
      this.#means.some((mean) => isClose(claim.number, mean)) ||
      ((claim.compares || claim.number.suffix !== null) && this.#isDerived(claim))
    );
  }

  /** Without copying the numbers, which may be many for each of many claims. */
  #isMeasured(claimed: NumberToken): boolean {
    for (const measured of this.#numbers.values()) if (isRounded(claimed, measured)) return true;
    return false;
  }

  #isDerived({ number, metric }: Claim): boolean {
    const groups = Map.groupBy([...this.#readings.values()].slice(-maxReadings), (reading) => reading.metric);
    // A change, or a "performance", may be one of any metric.
    const named = groups.get(metric);
    const sources = named === undefined ? [...groups.values()] : [named];
    return sources.some((group) => {
      const values = group.map((reading) => reading.number.value);
      return values.some((from) =>
        values.some((to) => from !== to && changesOf(from, to).some((change) => isClose(number, change))),
      );
    });
  }
}

/** Differences, relative changes and ratios, also as percentages. */
function changesOf(from: number, to: number): number[] {
  const change = Math.abs(to - from);
  const relative = from === 0 ? [] : [change / Math.abs(from), Math.abs(to / from)];
  return [change, 100 * change, ...relative, ...relative.map((ratio) => 100 * ratio)];
}

/** Equal up to rounding or truncation; a share and its percentage are the same number. */
function isRounded(claimed: NumberToken, { value, suffix }: NumberToken): boolean {
  if (isClose(claimed, value)) return true;
  if (claimed.suffix === 'percent' && suffix !== 'percent') return isClose(claimed, 100 * value);
  return suffix === 'percent' && claimed.suffix !== 'percent' && isClose(claimed, value / 100);
}

/** Within one unit of the last written digit. The sign may be in words: "fell by 0.1". */
function isClose({ value, unit }: NumberToken, exact: number): boolean {
  return Math.abs(Math.abs(value) - Math.abs(exact)) < unit * (1 - 1e-9);
}

/** The numbers of an output, in order, and those that it gives as values of a metric. */
export interface OutputNumbers {
  numbers: readonly NumberToken[];
  readings: readonly MetricNumber[];
}

/** Parses an output or a text once for all callers. */
export function numbersOf(output: string): OutputNumbers {
  const numbers: NumberToken[] = [];
  const readings: MetricNumber[] = [];
  for (const line of output.slice(0, longestOutput).split(/\r\n|\n|\r/)) {
    if (!/\d/.test(line)) continue;
    const tokens = tokensOf(line);
    for (const token of tokens) if (token.kind === 'number') numbers.push(token);
    if (line.length <= longestReading) readings.push(...metricNumbers(tokens));
  }
  return { numbers, readings };
}

/** The numbers of each step's observation, parsed once, on demand. */
export class ObservedNumbers {
  readonly #known = new Map<string, OutputNumbers>();

  of({ observation }: TranscriptStep): OutputNumbers {
    const known = this.#known.get(observation) ?? numbersOf(observation);
    this.#known.set(observation, known);
    return known;
  }
}
