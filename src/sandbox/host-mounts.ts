import { dirname, join, relative } from 'node:path';
import { kernelText } from './kernel-text.ts';
import { isWithin } from './paths.ts';

/** A file system, or a part of one, as it is mounted on this host. */
export interface HostMount {
  /** Its mount point. */
  point: string;
  /** Major and minor number of the file system. */
  device: string;
  /** The folder of the file system that is mounted there. */
  root: string;
  /** The kind of the file system, and what it is on: `ext4`, `/dev/loop0`. */
  kind: string;
  source: string;
}

/** The location of a file, whatever path leads to it: the same for all bind mounts of a folder. */
export interface Location {
  device: string;
  path: string;
}

/** The mounts of this host by their mount points: of two at the same point, the later one covers the earlier. */
export type HostMounts = ReadonlyMap<string, HostMount>;

/** @param text that of the kernel; elsewhere than on Linux there is none */
export function hostMounts(text = kernelText('/proc/self/mountinfo')): HostMounts {
  const mounts = new Map<string, HostMount>();
  for (const line of text.split('\n')) {
    const [left = '', right = ''] = line.split(' - ');
    const [, , device, root, point] = left.split(' ').map(unescaped);
    if (device === undefined || point === undefined || !root?.startsWith('/')) continue;
    const [kind = '', source = ''] = right.split(' ').map(unescaped);
    mounts.set(point, { point, device, root, kind, source });
  }
  return mounts;
}

/** @param path absolute, without links */
export function locationOf(path: string, mounts: HostMounts): Location {
  for (let folder = path; ; folder = dirname(folder)) {
    const mount = mounts.get(folder);
    if (mount !== undefined)
      return { device: mount.device, path: join(mount.root, relative(mount.point, path)) };
    // Not Linux: a path is its own location.
    if (folder === dirname(folder)) return { device: '', path };
  }
}

export function holds(folder: Location, file: Location): boolean {
  return folder.device === file.device && isWithin(folder.path, file.path);
}

/** The kernel writes spaces and the like as octal numbers. */
function unescaped(field: string): string {
  return field.replace(/\\(\d{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
