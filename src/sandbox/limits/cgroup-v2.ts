import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../../lib/errors.ts';
import { kernelText } from '../kernel-text.ts';
import { ownedName } from '../owner.ts';
import type { SandboxLimits } from '../sandbox.ts';
import {
  type CgroupSetting,
  type Hierarchy,
  isWritable,
  makeGroup,
  membersOf,
  readNumber,
  removeGroup,
  removeOrphans,
} from './cgroup-files.ts';
import {
  type GroupUsage,
  type Limiter,
  type LimitGroup,
  maxLeft,
  nothingUsed,
  usageSince,
} from './limiter.ts';

const microsecond = 1e-6;
const controllers = ['memory', 'pids'];
const leaf = 'mlab-harness';

/**
 * Groups in the unified hierarchy, if it was delegated to this user; otherwise null. A group that delegates controllers
 * to its children may contain no processes itself, so its processes are first moved down into a leaf. The limits set
 * above stay in force for all of them.
 */
export async function cgroupV2(found: readonly Hierarchy[]): Promise<Limiter | null> {
  const hierarchy = found.find(({ version }) => version === 2);
  if (hierarchy === undefined) return null;
  const parent = delegated(hierarchy);
  if (parent === null || !handDown(parent)) return null;
  await removeOrphans(parent);
  return {
    mechanism: 'cgroup v2',
    open: (limits) => openGroup(parent, randomBytes(6).toString('hex'), limits),
  };
}

/** The group below which ours are made: this process's own, or its parent if this process is already in the leaf. */
function delegated(hierarchy: Hierarchy): string | null {
  const parent = hierarchy.folder.endsWith(`/${leaf}`)
    ? hierarchy.folder.slice(0, -leaf.length - 1)
    : hierarchy.folder;
  const offered = kernelText(join(parent, 'cgroup.controllers')).trim().split(' ');
  const writable = ['', 'cgroup.procs', 'cgroup.subtree_control'].every((file) =>
    isWritable(join(parent, file)),
  );
  return writable && controllers.every((name) => offered.includes(name)) ? parent : null;
}

/** Whether the children of this group have the controllers, if necessary after its processes were moved out. */
function handDown(parent: string): boolean {
  // More than once: a process that is forked meanwhile has to be moved too.
  for (let attempt = 0; attempt < 5 && !handsDown(parent); attempt++) {
    try {
      writeFileSync(join(parent, 'cgroup.subtree_control'), controllers.map((name) => `+${name}`).join(' '));
    } catch (error) {
      if (!hasCode(error, 'EBUSY') || !moveIntoLeaf(parent)) return false;
    }
  }
  return handsDown(parent);
}

function handsDown(parent: string): boolean {
  const enabled = kernelText(join(parent, 'cgroup.subtree_control')).trim().split(' ');
  return controllers.every((name) => enabled.includes(name));
}

function moveIntoLeaf(parent: string): boolean {
  try {
    const folder = join(parent, leaf);
    mkdirSync(folder, { recursive: true });
    for (const pid of membersOf(parent)) moveProcess(pid, folder);
    return true;
  } catch {
    return false;
  }
}

function moveProcess(pid: number, folder: string): void {
  try {
    writeFileSync(join(folder, 'cgroup.procs'), String(pid));
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error;
  }
}

function openGroup(parent: string, suffix: string, limits: SandboxLimits): LimitGroup {
  const folder = join(parent, ownedName(suffix));
  makeGroup(folder, knobsFor(limits));
  const count = (): GroupUsage => {
    const microseconds = readNumber(join(folder, 'cpu.stat'), 'usage_usec');
    return {
      peakMemoryBytes: readNumber(join(folder, 'memory.peak')),
      cpuSeconds: microseconds === null ? null : microseconds * microsecond,
      outOfMemoryKills: readNumber(join(folder, 'memory.events'), 'oom_kill') ?? 0,
    };
  };
  let [before, last] = [nothingUsed, nothingUsed];
  return {
    joinFiles: [join(folder, 'cgroup.procs')],
    members: () => membersOf(folder),
    usage: () => {
      last = count();
      return usageSince(before, last);
    },
    renew: () => {
      before = last;
      // The kernel can't reset the peak.
      return (before.peakMemoryBytes ?? readNumber(join(folder, 'memory.current')) ?? maxLeft) < maxLeft;
    },
    close: () => removeGroup(folder),
  };
}

function knobsFor(limits: SandboxLimits): CgroupSetting[] {
  return [
    { file: 'memory.max', value: String(limits.memoryBytes) },
    { file: 'memory.swap.max', value: '0', optional: true },
    { file: 'pids.max', value: String(limits.processes) },
  ];
}
