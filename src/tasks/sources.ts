import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { UserError } from '../lib/errors.ts';
import type { Source } from '../schema/index.ts';
import { download } from './download.ts';
import type { DownloadRequest, DownloadTiming } from './download-request.ts';
import { FileIndex } from './file-index.ts';
import type { HostVariables } from './host-variables.ts';
import { kaggleCredentials, kaggleRequest } from './kaggle.ts';
import type { PreparedSource } from './prepared-data.ts';
import type { Task } from './task-folder.ts';

/** A source's file on this machine, hashed. */
export interface SourceFile {
  source: Source;
  /** Absolute path. */
  path: string;
  record: PreparedSource;
}

export interface SourceOptions {
  /** Folder for this task's downloads. */
  downloads: string;
  /** Folder with sources to use instead of the network. */
  mirror: string | null;
  allowUnverified: boolean;
  /** For Kaggle's credentials. */
  variables: HostVariables;
  /** Kaggle's address; another one for tests. */
  kaggleAddress?: string;
  timing?: Partial<DownloadTiming>;
  onProgress: (message: string) => void;
  signal: AbortSignal | null;
}

/**
 * Gets and checks all single files among a task's sources.
 * @throws UserError for the first that can't be downloaded or is not the expected one
 */
export async function obtainSources(task: Task, options: SourceOptions): Promise<SourceFile[]> {
  const files: SourceFile[] = [];
  for (const source of task.file.sources) {
    if (source.collection !== undefined) {
      refuseUnknown(task, source, options);
      continue;
    }
    try {
      files.push(await obtain(task, source, options));
    } catch (error) {
      if (!source.optional || !UserError.isInstance(error)) throw error;
      options.onProgress(`${source.file} is left out; the task works without it: ${error.message}`);
    }
  }
  return files;
}

/**
 * What would stop `obtainSources` and is known without reading a file: a source that the mirror lacks, missing
 * credentials or checksums.
 * @throws UserError as `obtainSources`
 */
export function checkSources(
  task: Task,
  options: Pick<SourceOptions, 'downloads' | 'mirror' | 'allowUnverified' | 'variables'>,
): void {
  for (const source of task.file.sources) {
    if (source.optional) continue;
    refuseUnknown(task, source, options);
    if (source.collection !== undefined) continue;
    if (options.mirror !== null) placeInMirror(task, source, options.mirror);
    else if (!existsSync(join(options.downloads, source.file))) address(task, source, options);
  }
}

async function obtain(task: Task, source: Source, options: SourceOptions): Promise<SourceFile> {
  refuseUnknown(task, source, options);
  return options.mirror === null
    ? await fromNetwork(task, source, options)
    : await fromMirror(task, source, options.mirror, options);
}

async function fromMirror(
  task: Task,
  source: Source,
  mirror: string,
  options: SourceOptions,
): Promise<SourceFile> {
  const path = placeInMirror(task, source, mirror);
  options.onProgress(`checking ${source.file} from the mirror`);
  const sha256 = await checksum(path, options);
  if (source.sha256 !== sha256 && !options.allowUnverified) throw otherChecksum(source, sha256, path);
  return sourceFile(source, path, sha256, 'mirror');
}

function placeInMirror(task: Task, source: Source, mirror: string): string {
  const places = mirrorPlaces(task, mirror, source);
  const path = places.find((place) => existsSync(place) && statSync(place).isFile());
  if (path !== undefined) return path;
  throw new UserError(
    'not_in_mirror',
    `the mirror has no ${source.file} for the task ${task.file.id}`,
    `put it at ${places.slice(0, 2).join(' or at ')}; the folder ${basename(task.folder)} may also be in another folder of the mirror`,
  );
}

/** Where a mirror may have a source, in search order; the first two places are the usual ones. */
export function mirrorPlaces(task: Task, mirror: string, { file }: Source): string[] {
  const name = basename(task.folder);
  const grouped = foldersIn(mirror).map((folder) => resolve(mirror, folder, name, file));
  return [resolve(mirror, name, file), resolve(mirror, file), ...grouped];
}

/** Names of the folders in a mirror, sorted: a mirror may group its tasks. */
function foldersIn(mirror: string): string[] {
  if (!existsSync(mirror) || !statSync(mirror).isDirectory()) return [];
  return readdirSync(mirror)
    .filter((name) => statSync(resolve(mirror, name), { throwIfNoEntry: false })?.isDirectory() === true)
    .sort();
}

async function fromNetwork(task: Task, source: Source, options: SourceOptions): Promise<SourceFile> {
  const destination = join(options.downloads, source.file);
  // A download with another checksum is stored separately, so that --allow-unverified can use it without downloading it
  // again.
  const mismatch = `${destination}.mismatch`;
  for (const path of options.allowUnverified ? [destination, mismatch] : [destination]) {
    if (!existsSync(path)) continue;
    const sha256 = await checksum(path, options);
    if (sha256 === source.sha256 || options.allowUnverified)
      return sourceFile(source, path, sha256, 'download');
    rmSync(path);
  }
  const sha256 = await download({
    ...address(task, source, options),
    destination,
    bytes: options.allowUnverified ? null : (source.bytes ?? null),
    sha256: source.sha256 ?? null,
    onProgress: progress(source.file, options.onProgress),
    onRetry: (why, pauseMs) =>
      options.onProgress(`${source.file}: ${why}; trying again in ${Math.ceil(pauseMs / 1000)} s`),
    signal: options.signal,
    ...(options.timing ? { timing: options.timing } : {}),
  });
  if (source.sha256 !== sha256 && !options.allowUnverified) {
    renameSync(destination, mismatch);
    throw otherChecksum(source, sha256, mismatch);
  }
  return sourceFile(source, destination, sha256, 'download');
}

/** Stored until the file's time stamp changes: some sources take an hour to read. */
async function checksum(path: string, { downloads }: SourceOptions): Promise<string> {
  const found = await new FileIndex(join(downloads, '.index.jsonl')).describe(path);
  if (found === null) throw new Error(`${path} has gone`);
  return found.sha256;
}

function address(
  task: Task,
  source: Source,
  options: Pick<SourceOptions, 'variables' | 'kaggleAddress'>,
): Pick<DownloadRequest, 'url' | 'headersFor' | 'explain'> {
  if (source.kaggle !== undefined)
    return kaggleRequest(source.kaggle, kaggleCredentials(options.variables), options.kaggleAddress);
  if (source.url !== undefined) return { url: source.url };
  throw new Error(`source ${source.file} of ${task.file.id} has no address`);
}

/** A line at the start and then about every 5 %, or every 64 MiB if the size is unknown. */
function progress(
  file: string,
  onProgress: (message: string) => void,
): (done: number, total: number | null) => void {
  let next = 0;
  return (done, total) => {
    if (done < next) return;
    next = done + (total === null ? 64 * 2 ** 20 : total / 20);
    const size = `${Math.round(done / 2 ** 20)} MiB`;
    onProgress(
      total === null
        ? `downloading ${file}: ${size}`
        : `downloading ${file}: ${size} of ${Math.round(total / 2 ** 20)} MiB`,
    );
  };
}

function sourceFile(source: Source, path: string, sha256: string, from: 'download' | 'mirror'): SourceFile {
  const bytes = statSync(path).size;
  return {
    source,
    path,
    record: { file: source.file, bytes, sha256, expected: source.sha256 ?? null, from },
  };
}

function refuseUnknown(
  task: Task,
  source: Source,
  { allowUnverified }: Pick<SourceOptions, 'allowUnverified'>,
): void {
  if (source.sha256 !== undefined || allowUnverified) return;
  throw new UserError(
    'no_checksum',
    `no SHA-256 is known for ${source.file}, so a copy can't be verified`,
    `use --allow-unverified to accept the file as it is, which adds a caveat to every result (the author of ${task.file.id} can add sha256 to its task.yaml)`,
  );
}

export function otherChecksum(source: Source, actual: string, path: string): UserError {
  return new UserError(
    'wrong_checksum',
    `${source.file} has the SHA-256 ${actual}, but the task expects ${source.sha256} (file: ${path})`,
    'get the original file; --allow-unverified uses this one and adds a caveat to every result',
  );
}
