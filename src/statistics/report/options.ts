import type { Convention, TaskFile } from '../../schema/index.ts';

export interface ReportOptions {
  /** Default: `every_run`. */
  convention?: Convention;
  /** Samples of each bootstrap, and the fewest exchanges of each permutation test. Default: 2000. */
  resamples?: number;
  /** The paper's own baselines by task, for the convention `paper`: `baseline.paper.value` of the task's file. */
  paperBaselines?: Readonly<Record<string, number>>;
  /** Two agents, whose difference is the first minus the second. Default: each pair in the order of their names. */
  direction?: readonly [first: string, second: string];
  /** Published columns by task, in per cent: `paper` of the task's file. Default: none. */
  published?: Readonly<Record<string, TaskFile['paper']>>;
}

export interface ReportSettings {
  convention: Convention;
  resamples: number;
  paperBaselines: Readonly<Record<string, number>>;
  direction: ReportOptions['direction'];
}

/** Thresholds for which success is reported, besides each task's own. */
export const thresholds = [0.05, 0.1, 0.15, 0.2, 0.3] as const;

export const confidence = 0.95;

/** A difference with a corrected p-value below this is beyond noise. */
export const significanceLevel = 0.05;

export function settingsOf(options: ReportOptions): ReportSettings {
  return {
    convention: options.convention ?? 'every_run',
    resamples: options.resamples ?? 2000,
    paperBaselines: options.paperBaselines ?? {},
    direction: options.direction,
  };
}
