/** One thing that reads bytes which somebody else wrote. */
export interface FuzzTarget {
  name: string;
  /** What it reads, in a few words. */
  reads: string;
  /** Inputs as they should be, and inputs that are known to be tricky. */
  seeds: readonly (string | Buffer)[];
  /** Words of the format, which a mutation would hardly hit by chance. */
  words?: readonly string[];
  /** Default: 32 KiB. */
  maxBytes?: number;
  /** How many inputs run between two looks at the coverage. Default: 32. */
  batch?: number;
  /** Processor time that an input may take, in milliseconds. Default: 250, and 10 a KiB. */
  milliseconds?: (bytes: number) => number;
  /** Why this machine can't try it; null where it can. */
  obstacle?: () => string | null;
  /** @param folder an empty folder of the target's own */
  open(folder: string): Promise<OpenTarget> | OpenTarget;
}

export interface OpenTarget {
  /**
   * Reads an input. It may throw a `UserError`, for that is an answer; anything else that it throws is a finding. What must
   * hold beside that, it asserts itself.
   * @returns what it covered, where that is measured elsewhere than in this process
   */
  run(input: Buffer): Promise<Covered> | Covered;
  close?(): Promise<void> | void;
}

// biome-ignore lint/suspicious/noConfusingVoidType: most targets return nothing
export type Covered = void | readonly string[];

export function defineTarget(target: FuzzTarget): FuzzTarget {
  return target;
}
