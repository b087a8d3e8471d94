import type { SandboxLimits } from '../sandbox.ts';

/** What holds memory and processes down. */
export type Mechanism = 'cgroup v2' | 'cgroup v1' | 'rlimits and watchdog';

/** The processes of one command, as the kernel groups them. */
export interface LimitGroup {
  /** A process that writes `0` to each of these joins, and so do all its later children. */
  readonly joinFiles: readonly string[];
  /** Host ids of the living members; empty where nothing groups them. */
  members(): number[];
  /** Since it was opened, or renewed. Null: the watchdog must see to it. */
  usage(): GroupUsage | null;
  /** Counts anew, for another command; false where what the last one left would count as the next one's. */
  renew(): boolean;
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

/** What one command may leave in memory, in pages of files mostly, for the group to serve another one. */
export const mostLeft = 16 * 2 ** 20;

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

/** The kernel can't group: limits of single processes, and the watchdog for the sum. */
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
