import { accessSync, constants, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { hasCode } from '../../lib/errors.ts';
import { kernelText } from '../kernel-text.ts';
import { orphansIn } from '../owner.ts';
import { signalAll } from '../process-tree.ts';

/** A hierarchy of control groups, with this process's group in it. */
export interface Hierarchy {
  version: 1 | 2;
  /** Its controllers; for version 2 those that this process may use. */
  controllers: string[];
  /** Folder of this process's own group. */
  folder: string;
}

/** The mounted hierarchies in which this process's group is visible. */
export function hierarchies(): Hierarchy[] {
  const paths = ownGroups();
  return kernelText('/proc/self/mountinfo')
    .split('\n')
    .flatMap((line) => hierarchyOf(line, paths));
}

/** The living members of a group, as host ids. */
export function membersOf(folder: string): number[] {
  return kernelText(join(folder, 'cgroup.procs')).split('\n').filter(Boolean).map(Number);
}

/** Makes a group and sets its knobs; a group that can't be set completely is removed again. */
export function makeGroup(folder: string, knobs: readonly CgroupSetting[]): void {
  mkdirSync(folder);
  try {
    for (const knob of knobs) setKnob(folder, knob);
  } catch (error) {
    rmdirSync(folder);
    throw error;
  }
}

export interface CgroupSetting {
  file: string;
  value: string;
  /** The kernel may not have it. */
  optional?: boolean;
}

/**
 * Kills the members until none is left, then removes the group. Gives up silently.
 * @param attempts the default is some seconds
 */
export async function removeGroup(folder: string, attempts = 200): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    signalAll(membersOf(folder), 'SIGKILL');
    if (tryRemove(folder)) return;
    await setTimeout(Math.min(1 + attempt, 50));
  }
}

/**
 * Removes groups of processes that were killed before they could do so. A group is busy until its dying members are
 * gone.
 */
export async function removeOrphans(parent: string): Promise<void> {
  const attempts = 40;
  await Promise.all(orphansIn(parent).map((name) => removeGroup(join(parent, name), attempts)));
}

/** A number from a file with one number or with `key number` lines; null if there is none. */
export function readNumber(path: string, key?: string): number | null {
  const text = kernelText(path);
  const line =
    key === undefined ? text : text.split('\n').find((candidate) => candidate.startsWith(`${key} `));
  const value = Number.parseInt(key === undefined ? text : (line ?? '').slice(key.length), 10);
  return Number.isNaN(value) ? null : value;
}

export function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Whether it could be set. */
export function trySetKnob(folder: string, knob: CgroupSetting): boolean {
  try {
    setKnob(folder, knob);
    return true;
  } catch {
    return false;
  }
}

function setKnob(folder: string, knob: CgroupSetting): void {
  const path = join(folder, knob.file);
  try {
    writeFileSync(path, knob.value, { flag: 'r+' });
  } catch (error) {
    if (!(knob.optional === true && hasCode(error, 'ENOENT'))) throw error;
  }
}

function tryRemove(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    return hasCode(error, 'ENOENT');
  }
}

/** Maps controllers (joined by commas; none for version 2) to the path of this process's group. */
function ownGroups(): Map<string, string> {
  const lines = kernelText('/proc/self/cgroup').split('\n').filter(Boolean);
  return new Map(
    lines.map((line) => {
      const [, controllers = '', ...path] = line.split(':');
      return [controllers, path.join(':')];
    }),
  );
}

function hierarchyOf(line: string, paths: Map<string, string>): Hierarchy[] {
  const [left = '', right = ''] = line.split(' - ');
  const [, , , root = '/', mountPoint = ''] = left.split(' ');
  const [type, , options = ''] = right.split(' ');
  if (type === 'cgroup2') {
    const folder = within(mountPoint, root, paths.get('') ?? '/');
    const controllers = kernelText(join(folder, 'cgroup.controllers')).trim().split(' ').filter(Boolean);
    return [{ version: 2, controllers, folder }];
  }
  if (type !== 'cgroup') return [];
  const own = [...paths].find(([names]) => names !== '' && sameControllers(names, options));
  if (own === undefined) return [];
  return [{ version: 1, controllers: own[0].split(','), folder: within(mountPoint, root, own[1]) }];
}

function sameControllers(names: string, options: string): boolean {
  const mounted = options.split(',');
  return names.split(',').every((name) => mounted.includes(name));
}

/** In a container the mount may show only the part below `root`. */
function within(mountPoint: string, root: string, path: string): string {
  const below =
    root !== '/' && (path === root || path.startsWith(`${root}/`)) ? path.slice(root.length) : path;
  return join(mountPoint, below.includes('..') ? '/' : below);
}
