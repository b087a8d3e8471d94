import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fdatasyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/**
 * Replaces a file atomically: a reader, also after a power cut, sees the old content or the new, never a part.
 * @throws file-system errors, such as ENOSPC; the old content then stays
 */
export function writeFileAtomically(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = draftOf(path);
  try {
    const file = openSync(temporary, 'wx');
    try {
      // Not writeSync, which silently writes only a part when the disk gets full.
      writeFileSync(file, content);
      fdatasyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** As `writeFileAtomically`, without blocking others while the disk works. */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const temporary = draftOf(path);
  try {
    {
      await using file = await open(temporary, 'wx');
      await file.writeFile(content);
      await file.datasync();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

function draftOf(path: string): string {
  return `${path}.${randomBytes(6).toString('hex')}.tmp`;
}

function ageOf(path: string): number {
  return Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
}

/**
 * Removes drafts of processes that were killed while they replaced or created a file. Call it only if no process is
 * doing that now.
 * @param olderThanMs younger drafts stay: a process may still need them
 */
export function removeDrafts(path: string, olderThanMs = Number.NEGATIVE_INFINITY): void {
  const [folder, name] = [dirname(path), basename(path)];
  for (const bytes of readdirSync(folder, { encoding: 'buffer' })) {
    const found = bytes.toString('latin1');
    const isDraft = found.startsWith(`${name}.`) && /^[0-9a-f]{12}\.tmp$/.test(found.slice(name.length + 1));
    if (isDraft && ageOf(join(folder, found)) >= olderThanMs) rmSync(join(folder, found), { force: true });
  }
}
