import type { SandboxLimits } from '../sandbox.ts';

/** What limits memory and processes. */
export type Mechanism = 'cgroup v2' | 'cgroup v1' | 'rlimits and watchdog';

/** The processes of one command, as the kernel groups them. */
export interface LimitGroup {
  /** A process that writes `0` to each of these joins, with all its later children. */
  readonly joinFiles: readonly string[];
  /** Host ids of the living members; empty if nothing groups them. */
  members(): number[];
  /** Since it was opened, or renewed. Null: the watchdog must measure it. */
  usage(): GroupUsage | null;
  /** Restarts the counts at their last reading; false if what the last command left would count for the next one. */
  renew(): boolean;
  /** Kills what still lives in it and removes it. Does not throw. */
  close(): Promise<void>;
}

export interface GroupUsage {
  /** Highest memory in use at any time, including page cache; null if the kernel does not report it. */
  peakMemoryBytes: number | null;
  cpuSeconds: number | null;
  /** Processes that the kernel killed because the limit was reached. */
  outOfMemoryKills: number;
}

/** How much one command may leave in memory, mostly page cache, for the group to be used again. */
export const maxLeft = 16 * 2 ** 20;

export const nothingUsed: GroupUsage = { peakMemoryBytes: null, cpuSeconds: null, outOfMemoryKills: 0 };

export function usageSince(before: GroupUsage, now: GroupUsage): GroupUsage {
  return {
    peakMemoryBytes: now.peakMemoryBytes,
    cpuSeconds: now.cpuSeconds === null ? null : now.cpuSeconds - (before.cpuSeconds ?? 0),
    outOfMemoryKills: now.outOfMemoryKills - before.outOfMemoryKills,
  };
}

export interface Limiter {
  readonly mechanism: Mechanism;
  /** A group for one command at a time. */
  open(limits: SandboxLimits): LimitGroup;
}

/** The kernel can't group processes: limits per process, and the watchdog for the sum. */
export const ungrouped: Limiter = {
  mechanism: 'rlimits and watchdog',
  open: () => ({
    joinFiles: [],
    members: () => [],
    usage: () => null,
    renew: () => true,
    close: async () => {},
  }),
};
