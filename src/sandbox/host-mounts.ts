import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { isWithin } from './paths.ts';

/** A file system, or a part of one, as it is mounted on this host. */
export interface HostMount {
  /** Its mount point. */
  point: string;
  /** Major and minor number of the file system. */
  device: string;
  /** The folder of the file system that is mounted there. */
  root: string;
}

/** The location of a file, whatever path leads to it: the same for all bind mounts of a folder. */
export interface Location {
  device: string;
  path: string;
}

/** The mounts of this host by their mount points: of two at the same point, the later one covers the earlier. */
export type HostMounts = ReadonlyMap<string, HostMount>;

export function hostMounts(text = mountTable()): HostMounts {
  const mounts = new Map<string, HostMount>();
  for (const line of text.split('\n')) {
    const [, , device, root, point] = line.split(' ').map(unescaped);
    if (device === undefined || point === undefined || !root?.startsWith('/')) continue;
    mounts.set(point, { point, device, root });
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

function mountTable(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    // Not Linux.
    return '';
  }
}

function unescaped(field: string): string {
  return field.replace(/\\(\d{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
