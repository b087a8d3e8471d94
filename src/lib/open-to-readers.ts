import { execFile } from 'node:child_process';
import { chmodSync, closeSync, constants, fchmodSync, fstatSync, openSync, readdirSync } from 'node:fs';
import { promisify } from 'node:util';

/** Linux's O_PATH. */
const pathOnly = 0x200000;

/**
 * Lets everybody read these files and folders, and all in them, when this process is root: agent code then runs as a
 * user to whom root's files are another's. The folder that they lie in must be closed to other users instead.
 */
export async function openToReaders(...paths: string[]): Promise<void> {
  if (process.getuid?.() !== 0) return;
  // Starting a program costs a large process much, and most of these are a file or an empty folder.
  const large = paths.filter((path) => !openedAtOnce(path));
  if (large.length === 0) return;
  // Any names, any depth, and links are passed over.
  const options = ['--recursive', '--silent', 'a+rX', '--', ...large];
  await promisify(execFile)('chmod', options, { env: { PATH: '/usr/bin:/bin' } });
}

/** Opens a file, or a folder that holds nothing. False for anything else: nothing was changed. */
function openedAtOnce(path: string): boolean {
  if (process.platform !== 'linux') return false;
  const descriptor = openSync(path, pathOnly | constants.O_NOFOLLOW);
  try {
    const place = `/proc/self/fd/${descriptor}`;
    const stat = fstatSync(descriptor);
    const isFolder = stat.isDirectory();
    if (isFolder ? readdirSync(place).length > 0 : !stat.isFile()) return false;
    const more = isFolder || (stat.mode & 0o111) !== 0 ? 0o555 : 0o444;
    chmodSync(place, (stat.mode & 0o7777) | more);
    return true;
  } finally {
    closeSync(descriptor);
  }
}

/** As `openToReaders`, for one file that is open. */
export function openFileToReaders(descriptor: number): void {
  if (process.getuid?.() === 0) fchmodSync(descriptor, 0o644);
}

/**
 * Lets every process connect to a Unix socket, which lies in a folder that only those are shown who may: they run as
 * another user than whoever listens. Never follows a link that lies there instead.
 */
export function openToCallers(socket: string): void {
  if (process.getuid?.() !== 0) return;
  const descriptor = openSync(socket, pathOnly | constants.O_NOFOLLOW);
  try {
    if (fstatSync(descriptor).isSocket()) chmodSync(`/proc/self/fd/${descriptor}`, 0o666);
  } finally {
    closeSync(descriptor);
  }
}
