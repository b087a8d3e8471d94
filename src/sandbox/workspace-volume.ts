import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, statfsSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findProgram } from './find-program.ts';
import { hostMounts } from './host-mounts.ts';
import { kernelText } from './kernel-text.ts';
import { isOrphaned, ownedName } from './owner.ts';
import { isWithin } from './paths.ts';
import {
  blockBytes,
  inodeBytes,
  inodeEvery,
  type MountView,
  programs,
  VolumeKeeper,
} from './volume-keeper.ts';

/** What keeps a workspace from growing beyond its limit. */
export type WorkspaceHolder = 'kernel' | 'watchdog';

export interface WorkspaceVolume extends AsyncDisposable {
  readonly holder: WorkspaceHolder;
  /** Why the kernel does not enforce it; null if it does. */
  readonly reason: string | null;
}

const mebibyte = 2 ** 20;
const startMs = 10_000;
const endMs = 60_000;

/** Once this process turned out to be unable to mount, no run tries again. */
let refused: string | null = null;

/**
 * Mounts a file system of limited size over a folder, which is emptied: writes beyond it fail at once, whatever the
 * files are called, and nothing in it is a device or gains rights. Only root can do this; otherwise the watchdog limits
 * the size.
 * @param folder absolute path; created if missing. Nobody else may use it, so a mount there is a leftover.
 * @param maxBytes the watchdog's limit; the file system holds a little more, so that the watchdog can say why
 */
export async function openWorkspaceVolume(folder: string, maxBytes: number): Promise<WorkspaceVolume> {
  await clearLeftVolumes(folder);
  mkdirSync(folder, { recursive: true });
  const imageBytes = wholeBlocks(maxBytes * (1.03 + inodeBytes / inodeEvery) + 32 * mebibyte);
  const reason = whyNot(folder, imageBytes);
  if (reason !== null) return watched(reason);
  const image = join(resolve(folder, '..'), ownedName('workspace'));
  const keeper = keeperOf();
  const mounting = keeper.mount(image, folder, imageBytes);
  const late = sleep(startMs, { fault: 'mounting the image took too long' }, { ref: false });
  const mounted = await Promise.race([mounting, late]);
  if ('fault' in mounted) {
    refused = mounted.fault;
    void mounting.then(async (after) => ('id' in after ? keeper.unmount(after.id) : undefined));
    return watched(mounted.fault);
  }
  inUse.set(folder, statSync(folder).dev);
  const { id } = mounted;
  return {
    holder: 'kernel',
    reason: null,
    [Symbol.asyncDispose]: () => close(folder, () => keeper.unmount(id)),
  };
}

let current: VolumeKeeper | null = null;

function keeperOf(): VolumeKeeper {
  if (current === null || current.isOver) current = new VolumeKeeper(findProgram('python3') ?? '');
  return current;
}

/**
 * This host's mounts without the volumes of other runs: each of them costs time at each mount of a sandbox. Null if
 * there are none, or if no such view can be made.
 * @param sources what a sandbox mounts
 */
export async function mountsWithoutOthers(sources: readonly string[]): Promise<MountView | null> {
  if (inUse.size < 2) return null;
  const devices = new Set(sources.map((source) => statSync(source, { throwIfNoEntry: false })?.dev));
  const isShown = (place: string) => sources.some((source) => isWithin(source, place));
  const kept = [...inUse].filter(([place, device]) => devices.has(device) || isShown(place));
  const view = keeperOf().view(kept.map(([place]) => place));
  let isLate = false;
  void view.then((made) => (isLate ? made?.[Symbol.dispose]() : undefined));
  const late = sleep(startMs, null, { ref: false }).finally(() => {
    isLate = true;
  });
  return Promise.race([view, late]);
}

/** Why the kernel can't limit a workspace of this harness; null if it can, as far as is known beforehand. */
export function whyNoVolume(): string | null {
  if (process.platform !== 'linux') return 'only Linux mounts images';
  if (process.getuid?.() !== 0) return 'only root may mount an image';
  if (findProgram('python3') === null) return 'Python 3 is not installed';
  return refused;
}

function whyNot(folder: string, imageBytes: number): string | null {
  const fault = whyNoVolume();
  if (fault !== null) return fault;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize < imageBytes ? 'the disk has less room than the workspace may take' : null;
}

const wholeBlocks = (bytes: number): number => Math.ceil(bytes / blockBytes) * blockBytes;

function watched(reason: string): WorkspaceVolume {
  return { holder: 'watchdog', reason, [Symbol.asyncDispose]: async () => {} };
}

async function close(folder: string, unmount: () => Promise<void>): Promise<void> {
  await Promise.race([unmount(), sleep(endMs, undefined, { ref: false })]);
  inUse.delete(folder);
  // Also if the keeper was killed.
  await clearLeftVolumes(folder);
}

/**
 * Where this process has mounted volumes that are in use, and their devices, so that hundreds of runs need not each
 * check all mounts.
 */
const inUse = new Map<string, number>();

let areOrphansCleared = false;

/**
 * Unmounts a volume at this folder. Once per process, also volumes that dead harnesses left because the unmounting
 * process was killed too: hundreds of runs need not each check all mounts.
 */
async function clearLeftVolumes(folder: string): Promise<void> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return;
  if (areOrphansCleared && !isMountPoint(folder)) return;
  areOrphansCleared = true;
  const judged = new Map<string, boolean>();
  for (const { place, image } of loopMounts()) {
    if (place !== folder && !isOrphaned(image, judged)) continue;
    const child = spawn('umount', ['-l', place], { env: programs, stdio: 'ignore' });
    await Promise.race([once(child, 'exit'), once(child, 'error')]);
  }
}

function isMountPoint(folder: string): boolean {
  const device = (path: string) => statSync(path, { throwIfNoEntry: false })?.dev;
  const own = device(folder);
  return own !== undefined && own !== device(dirname(folder));
}

/** Mounts of images that a harness made and this process does not use. */
function loopMounts(): { place: string; image: string }[] {
  return [...hostMounts().values()].flatMap(({ point: place, kind, source }) => {
    const device = /^\/dev\/(loop\d+)$/.exec(source)?.[1];
    if (inUse.has(place) || kind !== 'ext4' || device === undefined) return [];
    const file = kernelText(`/sys/block/${device}/loop/backing_file`).trim();
    const image = basename(file.replace(/ \(deleted\)$/, ''));
    return /^mlab-.*-workspace$/.test(image) ? [{ place, image }] : [];
  });
}
