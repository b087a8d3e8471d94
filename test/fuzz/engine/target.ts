/** A reader of bytes from others. */
export interface FuzzTarget {
  name: string;
  /** What it reads, in a few words. */
  reads: string;
  /** Valid inputs, and inputs that are known to be tricky. */
  seeds: readonly (string | Buffer)[];
  /** Words of the format that a mutation would hardly produce by chance. */
  words?: readonly string[];
  /** Default: 32 KiB. */
  maxBytes?: number;
  /** The number of inputs that run between two checks of the coverage. Default: 32. */
  batch?: number;
  /** Processor time that an input may take, in milliseconds. Default: 250, plus 10 per KiB. */
  milliseconds?: (bytes: number) => number;
  /** Why this machine can't try it; null if it can. */
  obstacle?: () => string | null;
  /** @param folder an empty folder for this target */
  open(folder: string): Promise<OpenTarget> | OpenTarget;
}

export interface OpenTarget {
  /**
   * Reads an input. It may throw a `UserError`, which is a valid answer; any other exception is a finding. It asserts
   * its other guarantees itself.
   * @returns what it covered, if that is measured outside of this process
   */
  run(input: Buffer): Promise<Covered> | Covered;
  close?(): Promise<void> | void;
}

// biome-ignore lint/suspicious/noConfusingVoidType: most targets return nothing
export type Covered = void | readonly string[];

export function defineTarget(target: FuzzTarget): FuzzTarget {
  return target;
}
