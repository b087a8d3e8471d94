/** One number, its target, and where it came from. */
export interface Measurement {
  /** What was measured, such as `own cost of a step, around step 50`. */
  what: string;
  value: number;
  /** Such as `ms`, `bytes`, or `times`; empty for a plain count. */
  unit: string;
  /** The value must not be above this; null if there is no target. */
  atMost: number | null;
  /** How it was measured, or what else is worth knowing. */
  note: string;
}

export interface BenchContext {
  /** A short version that shows that everything works; its numbers mean little. */
  quick: boolean;
  /** For `kill`: how many kills, and the seed of their moments; default: the number in the target, and 1. */
  kills?: number | undefined;
  seed?: number | undefined;
  /** An empty folder, removed afterwards. */
  scratch: string;
  /** The cache for prepared tasks, shared by the benchmarks of one call. */
  cache: string;
  /** Writes progress to standard error. */
  log: (line: string) => void;
  signal: AbortSignal;
}

export interface Benchmark {
  name: string;
  summary: string;
  /** @throws SandboxError, UserError if this machine lacks something that is needed */
  measure(context: BenchContext): Promise<Measurement[]>;
}

export function isMet({ value, atMost }: Measurement): boolean {
  return atMost === null || value <= atMost;
}

/** The value below which this share of all values lies; of an even number, the lower one. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  if (value === undefined) throw new Error('there is nothing to summarise');
  return value;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}
