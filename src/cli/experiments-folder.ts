import { accessSync, constants, mkdirSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DoctorCheck } from '../lib/doctor-check.ts';
import { hasCode, messageOf, UserError } from '../lib/errors.ts';

/** Bytes on the disk of the experiments: less than the first holds no run, less than the second is soon used up. */
const [necessary, comfortable] = [2 ** 26, 2 ** 30];

/** @throws UserError or an error of the operating system, if it can't be made or written into */
export function makeExperimentsFolder(folder: string): void {
  makeFolders(folder);
  accessSync(folder, constants.W_OK);
}

/** Whether experiments can be kept in a folder, which need not exist yet. */
export function checkExperimentsFolder(folder: string): DoctorCheck {
  const name = 'Experiments';
  try {
    const there = nearestFolder(folder);
    accessSync(there, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(there);
    const free = bavail * bsize;
    const detail = `${(free / 2 ** 30).toFixed(1)} GiB free for ${folder}`;
    if (free >= comfortable) return { name, state: 'ok', detail, fix: null };
    const state = free < necessary ? 'missing' : 'warning';
    return { name, state, detail, fix: 'free some space, or name another folder (--dir)' };
  } catch (error) {
    return { name, state: 'missing', detail: messageOf(error), fix: 'name another folder (--dir)' };
  }
}

/**
 * One level after the other: Node's recursive `mkdir` never ends where the kernel says of a new folder that its parent is
 * missing, as in /proc.
 */
function makeFolders(folder: string): void {
  const there = nearestFolder(folder);
  if (there === folder) return;
  makeFolders(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process may have made it in the meantime.
    if (!hasCode(error, 'EEXIST')) throw error;
  }
}

/** The folder itself, or the nearest one above it. */
function nearestFolder(folder: string): string {
  const state = statSync(folder, { throwIfNoEntry: false });
  if (state?.isDirectory()) return folder;
  if (state === undefined && dirname(folder) !== folder) return nearestFolder(dirname(folder));
  throw new UserError('not_a_folder', `${folder} is a file.`, 'Name a folder (--dir).');
}
