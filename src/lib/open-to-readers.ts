import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, constants, fchmodSync, fstatSync, openSync, readdirSync } from 'node:fs';
import type { Server } from 'node:net';
import { promisify } from 'node:util';

/** Linux's O_PATH. */
const pathOnly = 0x200000;

/**
 * If this process is root, gives everybody read access to these files and folders and all their contents: agent code
 * then runs as another user, who can't read root's files. The containing folder must be closed to other users instead.
 */
export async function openToReaders(...paths: string[]): Promise<void> {
  if (process.getuid?.() !== 0) return;
  // Starting a program is slow for a large process, and most of these are a file or an empty folder.
  const large = paths.filter((path) => !openedAtOnce(path));
  if (large.length === 0) return;
  // Handles any names at any depth, and skips links.
  const options = ['--recursive', '--silent', 'a+rX', '--', ...large];
  await promisify(execFile)('chmod', options, { env: { PATH: '/usr/bin:/bin' } });
}

/** Opens a file, or an empty folder. False for anything else, of which nothing was changed. */
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

/** As `openToReaders`, for one open file. */
export function openFileToReaders(descriptor: number): void {
  if (process.getuid?.() === 0) fchmodSync(descriptor, 0o644);
}

/**
 * Lets every process connect to a Unix socket, because clients run as another user than the server. Access is limited
 * by showing the socket's folder only to those who may connect. Never follows a link that replaced the socket.
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

/**
 * Listens on a Unix socket that every process may connect to, see `openToCallers`.
 * @throws errors of listening, such as EADDRINUSE
 */
export async function listenToCallers(server: Server, socket: string): Promise<void> {
  // Rejects for the server's error.
  await once(server.listen(socket), 'listening');
  openToCallers(socket);
}
