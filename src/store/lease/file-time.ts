import { randomBytes } from 'node:crypto';
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** How long the time of a file system is derived from this machine's monotonic clock. */
const knownMs = 60_000;

interface Seen {
  fileMs: number;
  steadyMs: number;
}

/** By the number of the file system. */
const seen = new Map<number, Seen>();

/**
 * The current time by the clock that gives files their times: the file server's, if there is one. Use it to compare
 * with the time of a file that another machine wrote, as this machine's own clock may be minutes off.
 * @param folder on that file system; a temporary file is made in it
 */
export function fileTimeNow(folder: string): number {
  const device = statSync(folder, { throwIfNoEntry: false })?.dev ?? 0;
  const known = seen.get(device);
  const steadyMs = performance.now();
  if (known !== undefined && steadyMs - known.steadyMs < knownMs)
    return known.fileMs + steadyMs - known.steadyMs;
  const fileMs = timeOfNewFile(folder);
  // Without write permission, only this machine's clock is available.
  if (fileMs === null) return Date.now();
  seen.set(device, { fileMs, steadyMs });
  return fileMs;
}

function timeOfNewFile(folder: string): number | null {
  const path = join(folder, `time-${randomBytes(6).toString('hex')}`);
  try {
    writeFileSync(path, '');
    return statSync(path).mtimeMs;
  } catch {
    return null;
  } finally {
    rmSync(path, { force: true });
  }
}
