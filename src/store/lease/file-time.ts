import { randomBytes } from 'node:crypto';
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** For so long the time of a file system is worked out from this machine's steady clock. */
const knownMs = 60_000;

interface Seen {
  fileMs: number;
  steadyMs: number;
}

/** By the number of the file system. */
const seen = new Map<number, Seen>();

/**
 * What time it is by the clock that gives files their times: that of the file server, where there is one. Of use beside the
 * time of a file that another machine wrote; this machine's own clock may be minutes off.
 * @param folder on that file system; a file is made in it for a moment
 */
export function fileTimeNow(folder: string): number {
  const device = statSync(folder, { throwIfNoEntry: false })?.dev ?? 0;
  const known = seen.get(device);
  const steadyMs = performance.now();
  if (known !== undefined && steadyMs - known.steadyMs < knownMs)
    return known.fileMs + steadyMs - known.steadyMs;
  const fileMs = timeOfNewFile(folder);
  // Who may only read has no other clock than this machine's.
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
