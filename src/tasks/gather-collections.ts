import { mkdirSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { UserError } from '../lib/errors.ts';
import { sha256 } from '../lib/hash.ts';
import type { Collection, Source } from '../schema/index.ts';
import { type ListedFile, readCollectionList } from './collection-list.ts';
import type { DownloadTiming } from './download-request.ts';
import { fetchFiles } from './fetch-files.ts';
import { type Described, FileIndex } from './file-index.ts';
import type { PreparedSource } from './prepared-data.ts';
import type { PythonEnvironment } from './python-environment.ts';
import { runListScript } from './run-prepare-script.ts';
import { mirrorPlaces, otherChecksum } from './sources.ts';
import type { Task } from './task-folder.ts';

export interface GatherOptions {
  cache: string;
  /** The project's `python/` folder. */
  helpers: string;
  python: PythonEnvironment;
  /** Folder with files to use instead of the network: `<mirror>/<task id>/<collection>/<file>`. */
  mirror?: string | null;
  allowUnverified: boolean;
  timing?: Partial<DownloadTiming>;
  onProgress: (message: string) => void;
  signal?: AbortSignal | null;
}

/** A source that is a collection. */
type CollectionSource = Source & { collection: Collection };

/**
 * Puts each of the task's collections into a folder of its name among the downloads, where the other sources are
 * already unpacked.
 * @throws UserError if the list is invalid, a limit is passed or too many files are missing; the signal's reason if
 *   aborted
 */
export async function gatherCollections(
  task: Task,
  downloads: string,
  options: GatherOptions,
): Promise<PreparedSource[]> {
  const records: PreparedSource[] = [];
  for (const source of task.file.sources) {
    if (!isCollection(source)) continue;
    records.push(await gather(task, source, downloads, options));
  }
  return records;
}

function isCollection(source: Source): source is CollectionSource {
  return source.collection !== undefined;
}

async function gather(
  task: Task,
  source: CollectionSource,
  downloads: string,
  options: GatherOptions,
): Promise<PreparedSource> {
  const { collection, file: name } = source;
  const scratch = `${downloads}-list-${name}`;
  options.onProgress(`listing ${name}`);
  await runListScript(task, collection.list, `${scratch}.jsonl`, { ...options, downloads, scratch });
  const listed = readCollectionList(`${scratch}.jsonl`, collection);
  options.onProgress(`looking for local copies of the ${listed.length} files of ${name}`);
  // Variants of a task share their downloads.
  const home = join(options.cache, 'downloads', basename(task.folder), name);
  const index = new FileIndex(`${home}.index.jsonl`);
  const lasting = options.mirror ? mirrorPlaces(task, options.mirror, source) : [home];
  const found = await findLocally(listed, index, lasting, source, downloads, options.signal ?? null);
  if (options.mirror) {
    if (!options.allowUnverified || found.size === 0) refuseMissing(source, listed, found);
  } else {
    await fetchFiles({
      source,
      files: listed.filter(({ file }) => !found.has(file)),
      folder: home,
      found,
      index,
      ...(options.timing ? { timing: options.timing } : {}),
      onProgress: options.onProgress,
      signal: options.signal ?? null,
    });
  }
  const record = describe(source, listed, found, options.mirror ? 'mirror' : 'download');
  if (record.sha256 !== source.sha256 && !options.allowUnverified)
    throw otherChecksum(source, record.sha256, home);
  link(found, join(downloads, name));
  report(record, listed.length, options);
  return record;
}

/** Files that need no network: from the archive, then from the folders of the mirror or of earlier downloads. */
async function findLocally(
  listed: readonly ListedFile[],
  index: FileIndex,
  lasting: readonly string[],
  { file: name, collection }: CollectionSource,
  downloads: string,
  signal: AbortSignal | null,
): Promise<Map<string, Described>> {
  const within = collection.within === undefined ? null : join(downloads, collection.within);
  // The archive is unpacked anew every time, so nothing is worth storing.
  const passing = new FileIndex(null);
  const found = new Map<string, Described>();
  let bytes = 0;
  for (const { file } of listed) {
    signal?.throwIfAborted();
    let described = within === null ? null : await passing.describe(join(within, file));
    for (const place of lasting) described ??= await index.describe(join(place, file));
    if (described === null) continue;
    bytes += described.bytes;
    if (described.bytes > collection.file_bytes_max || bytes > collection.bytes_max)
      throw new UserError(
        'too_large',
        `${described.path} makes ${name} larger than task.yaml allows`,
        'check that file; file_bytes_max and bytes_max are the limits',
      );
    found.set(file, described);
  }
  return found;
}

/** @throws UserError if more files are missing than the task allows */
function refuseMissing(
  { file: name, collection }: CollectionSource,
  listed: readonly ListedFile[],
  found: ReadonlyMap<string, unknown>,
): void {
  const missing = listed.filter(({ file }) => !found.has(file));
  if (found.size > 0 && missing.length <= collection.missing_max * listed.length) return;
  const first = missing.slice(0, 3).map(({ file }) => file);
  throw new UserError(
    'not_in_mirror',
    `the mirror lacks ${missing.length} of the ${listed.length} files of ${name}: ${first.join(', ')}${missing.length > 3 ? ', …' : ''}`,
    found.size === 0
      ? `put them into the folder ${name} of the mirror`
      : `put them into the folder ${name} of the mirror; --allow-unverified uses only those that are there, and adds a caveat to every result`,
  );
}

function describe(
  { file, sha256: expected }: CollectionSource,
  listed: readonly ListedFile[],
  found: ReadonlyMap<string, Described>,
  from: PreparedSource['from'],
): PreparedSource {
  const there: [string, string][] = [];
  const missing: string[] = [];
  let bytes = 0;
  for (const { file: name } of listed) {
    const described = found.get(name);
    if (described === undefined) missing.push(name);
    else {
      there.push([name, described.sha256]);
      bytes += described.bytes;
    }
  }
  return {
    file,
    bytes,
    sha256: sha256(JSON.stringify(there)),
    expected: expected ?? null,
    from,
    collection: { files: there.length, missing: missing.length, first_missing: missing.slice(0, 10) },
  };
}

/** Links the files rather than the folder, which may contain more than is on the list. */
function link(found: ReadonlyMap<string, Described>, folder: string): void {
  mkdirSync(folder);
  for (const [name, { path }] of found) symlinkSync(path, join(folder, name));
}

function report({ file, collection }: PreparedSource, listed: number, { onProgress }: GatherOptions): void {
  if (collection === undefined || collection.missing === 0) return;
  onProgress(
    `${file}: ${collection.missing} of ${listed} files are missing, such as ${collection.first_missing[0]}`,
  );
}
