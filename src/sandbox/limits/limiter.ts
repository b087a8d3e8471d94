import type { SandboxLimits } from '../sandbox.ts';

/** What holds memory and processes down. */
export type Mechanism = 'cgroup v2' | 'cgroup v1' | 'rlimits and watchdog';

/** The processes of one command, as the kernel groups them. */
export interface LimitGroup {
  /** A process that writes `0` to each of these joins, and so do all its later children. */
  readonly joinFiles: readonly string[];
  /** Host ids of the living members; empty where nothing groups them. */
  members(): number[];
  /** Null: the watchdog must see to it. */
  usage(): GroupUsage | null;
  /** Kills what still lives in it and takes it away. Does not throw. */
  close(): Promise<void>;
}

export interface GroupUsage {
  /** Highest memory in use at any time, page cache included; null where the kernel doesn't say. */
  peakMemoryBytes: number | null;
  cpuSeconds: number | null;
  /** Processes that the kernel killed because the limit was reached. */
  outOfMemoryKills: number;
}

export interface Limiter {
  readonly mechanism: Mechanism;
  /** A group for one command. */
  open(limits: SandboxLimits): LimitGroup;
}

/** The kernel can't group: limits of single processes, and the watchdog for the sum. */
export const ungrouped: Limiter = {
  mechanism: 'rlimits and watchdog',
  open: () => ({ joinFiles: [], members: () => [], usage: () => null, close: async () => {} }),
};
