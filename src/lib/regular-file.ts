import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { UserError } from './errors.ts';

/** Does not wait for the other end of a FIFO, and does not make a terminal the controlling one. */
const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/**
 * Opens a file that somebody else may have put there: never a FIFO, a device, a socket or a folder, and by default not
 * through a symbolic link in its last part.
 * @throws UserError `no_regular_file`; ENOENT and the like
 */
export function openRegularFile(path: string, { follow = false } = {}): number {
  const descriptor = openNoLink(path, follow);
  if (fstatSync(descriptor).isFile()) return descriptor;
  closeSync(descriptor);
  throw noRegularFile(path);
}

/**
 * The content of such a file. Bytes beyond its initial size are not read.
 * @throws UserError `no_regular_file`, `file_too_large`; ENOENT and the like
 */
export function readRegularFile(path: string, maxBytes: number, options: { follow?: boolean } = {}): Buffer {
  const descriptor = openRegularFile(path, options);
  try {
    const { size } = fstatSync(descriptor);
    if (size > maxBytes)
      throw new UserError(
        'file_too_large',
        `${path} is larger than ${maxBytes} bytes.`,
        'mlab writes no such file there. Check what it is, and remove it.',
      );
    // Files in /proc report a size of 0.
    const buffer = Buffer.allocUnsafe(size);
    let length = 0;
    while (length < size) {
      const count = readSync(descriptor, buffer, length, size - length, length);
      if (count === 0) break;
      length += count;
    }
    return buffer.subarray(0, length);
  } finally {
    closeSync(descriptor);
  }
}

function openNoLink(path: string, follow: boolean): number {
  try {
    return openSync(path, follow ? flags : flags | constants.O_NOFOLLOW);
  } catch (error) {
    // A link, a socket, or a file in the place of a folder.
    const code = error instanceof Error && 'code' in error ? error.code : '';
    if (code === 'ELOOP' || code === 'ENXIO' || code === 'ENOTDIR') throw noRegularFile(path);
    throw error;
  }
}

function noRegularFile(path: string): UserError {
  return new UserError(
    'no_regular_file',
    `${path} is not a regular file but a link, a pipe, a device or a folder, or lies in something that is no folder.`,
    'Check what it is, and remove it.',
  );
}
