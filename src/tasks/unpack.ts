import { mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { hasCode, messageOf, UserError } from '../lib/errors.ts';
import { diskFull } from './download-failure.ts';
import { unpackTar } from './unpack-tar.ts';
import { UnpackTarget } from './unpack-target.ts';
import { unpackZip } from './unpack-zip.ts';

export interface UnpackOptions {
  format: 'zip' | 'tar';
  /** Maximum bytes of all unpacked files together. */
  maxBytes: number;
  maxEntries?: number;
  signal?: AbortSignal | null;
}

export interface Unpacked {
  files: number;
  bytes: number;
}

const entriesMax = 2_000_000;

/**
 * Unpacks an untrusted zip, tar or tar.gz into a new folder. Writes only plain files and folders, with plain modes,
 * inside the folder. Links, devices, repeated names, paths that lead outside and bombs are refused, and then nothing is
 * left behind.
 * @param folder absolute path that does not exist yet
 * @throws UserError that names the archive, the entry and the reason
 */
export async function unpack(archive: string, folder: string, options: UnpackOptions): Promise<Unpacked> {
  const growing = `${folder}.unpacking`;
  rmSync(growing, { recursive: true, force: true });
  mkdirSync(growing, { recursive: true });
  const target = new UnpackTarget(growing, {
    bytes: options.maxBytes,
    entries: options.maxEntries ?? entriesMax,
    archiveBytes: statSync(archive).size,
  });
  const signal = options.signal ?? null;
  try {
    await (options.format === 'zip'
      ? unpackZip(archive, target, signal)
      : unpackTar(archive, target, signal));
    renameSync(growing, folder);
    return { files: target.files, bytes: target.bytes };
  } catch (error) {
    rmSync(growing, { recursive: true, force: true });
    options.signal?.throwIfAborted();
    throw explain(archive, error);
  }
}

function explain(archive: string, error: unknown): UserError {
  if (hasCode(error, 'ENOSPC')) return diskFull(archive);
  if (UserError.isInstance(error)) {
    return new UserError(error.code, `${archive}: ${error.message}`, error.hint, { cause: error });
  }
  return new UserError(
    'bad_archive',
    `${archive} can't be unpacked: ${messageOf(error)}`,
    'the file may be damaged: delete it and run the same command again',
    { cause: error },
  );
}
