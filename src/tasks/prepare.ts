import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { writeFileAtomically } from '../lib/atomic-file.ts';
import { everyMinute } from '../lib/every-minute.ts';
import { type LockOptions, withFileLock } from '../lib/file-lock.ts';
import { sha256 } from '../lib/hash.ts';
import { makeReadOnly, removeTree } from '../lib/read-only-tree.ts';
import { archiveFolderName } from './archive-name.ts';
import type { DownloadTiming } from './download-request.ts';
import { folderVersion } from './folder-version.ts';
import { gatherCollections } from './gather-collections.ts';
import type { HostVariables } from './host-variables.ts';
import {
  closeToOthers,
  describeFiles,
  manifestName,
  type PreparedData,
  type PreparedManifest,
  type PreparedSource,
  parts,
  preparedData,
  readManifest,
  readPrepared,
} from './prepared-data.ts';
import type { PythonEnvironment } from './python-environment.ts';
import { normaliseRequirements } from './requirements.ts';
import { runPrepareScript, runSampleScript } from './run-prepare-script.ts';
import { checkSources, obtainSources, type SourceFile } from './sources.ts';
import type { Task } from './task-folder.ts';
import { unpack } from './unpack.ts';
import { withWritableCache } from './writable-cache.ts';

export interface LoadPreparedOptions {
  /** The project's cache folder. */
  cache: string;
  /** The project's `python/` folder, which contains the package `mlab_task`. */
  helpers: string;
  /** Whether to accept data made from files other than the original ones. */
  allowUnverified: boolean;
}

export interface PrepareOptions extends LoadPreparedOptions {
  /** Folder with sources to use instead of the network: `<mirror>/<task id>/<file>` or `<mirror>/<file>`. */
  mirror?: string | null;
  python: PythonEnvironment;
  /** For Kaggle's credentials; default: this process's environment variables. */
  variables?: HostVariables;
  /** Kaggle's address; another one for tests. */
  kaggleAddress?: string;
  timing?: Partial<DownloadTiming>;
  /** Prepares as if on another machine and another day: see `prepareAgain`. */
  elsewhere?: boolean;
  onProgress?: (message: string) => void;
  signal?: AbortSignal | null;
}

/**
 * The task's data, made from its sources if there is none yet: downloaded (or taken from the mirror), checked,
 * unpacked, split by the task's prepare.py, and moved into place in one step, read-only.
 * @throws UserError if a source or the script fails; the signal's reason if aborted
 */
export async function prepareTask(task: Task, options: PrepareOptions): Promise<PreparedData> {
  const ready = await loadVerified(task, options);
  if (ready !== null) return ready;
  const onProgress = options.onProgress ?? (() => {});
  const home = taskFolder(task, options);
  const lock = lockOptions(options, 'prepares the same data');
  return await withWritableCache(options.cache, () =>
    withFileLock(join(home, '.lock'), lock, async () => {
      removeLeftovers(home);
      if (task.isSample) return await buildSample(task, { ...options, onProgress });
      const sources = await withDownloads(task, options, (downloads) =>
        obtainSources(task, {
          downloads,
          mirror: options.mirror ?? null,
          allowUnverified: options.allowUnverified,
          variables: options.variables ?? process.env,
          ...(options.kaggleAddress ? { kaggleAddress: options.kaggleAddress } : {}),
          ...(options.timing ? { timing: options.timing } : {}),
          onProgress,
          signal: options.signal ?? null,
        }),
      );
      const recipe = recipeOf(task, options.helpers);
      const folderOf = (records: PreparedSource[]) => join(home, keyOf(recipe, records));
      const records = sources.map(({ record }) => record);
      const fill = async (downloads: string) => {
        await layOut(sources, downloads, { ...options, onProgress });
        const gathered = await withDownloads(task, options, () =>
          gatherCollections(task, downloads, { ...options, onProgress }),
        );
        return inOrder(task, records, gathered);
      };
      // The content of a collection is known only once the archives that list it are unpacked.
      const isCollected = task.file.sources.some(({ collection }) => collection !== undefined);
      const known = isCollected ? null : await readPrepared(folderOf(records));
      return known ?? (await build(task, recipe, { fill, folderOf }, { ...options, onProgress }));
    }),
  );
}

/**
 * Data that was prepared before; null if there is none, or it is damaged. Of several versions made from unverified
 * files the newest is used, and only if those are allowed.
 */
export async function loadPrepared(task: Task, options: LoadPreparedOptions): Promise<PreparedData | null> {
  const verified = await loadVerified(task, options);
  if (verified !== null || !options.allowUnverified) return verified;
  const home = taskFolder(task, options);
  const recipe = recipeOf(task, options.helpers);
  const candidates = (existsSync(home) ? readdirSync(home) : [])
    .filter((name) => !name.startsWith('.'))
    .map((name) => ({ folder: join(home, name), manifest: readManifest(join(home, name)) }))
    .filter(({ manifest }) => manifest?.recipe === recipe)
    .sort((a, b) => ((a.manifest?.prepared_at ?? '') < (b.manifest?.prepared_at ?? '') ? 1 : -1));
  for (const { folder } of candidates) {
    const data = await readPrepared(folder);
    if (data !== null) return data;
  }
  return null;
}

/**
 * Whether the task's data is there, or nothing that is known without work stands in the way of preparing it. Costs
 * nothing, so it comes before everything slow.
 * @throws UserError as `prepareTask`
 */
export async function checkData(
  task: Task,
  options: LoadPreparedOptions & Pick<PrepareOptions, 'mirror' | 'variables'>,
): Promise<void> {
  if (task.isSample || (await loadPrepared(task, options)) !== null) return;
  const { allowUnverified, mirror = null, variables = process.env } = options;
  checkSources(task, { downloads: downloadsOf(task, options), mirror, allowUnverified, variables });
}

/** Variants of a task have separate data, but share their downloads: one of them at a time. */
async function withDownloads<Result>(
  task: Task,
  options: PrepareOptions,
  work: (downloads: string) => Promise<Result>,
): Promise<Result> {
  const downloads = downloadsOf(task, options);
  const lock = lockOptions(options, 'downloads the same files');
  return await withFileLock(join(downloads, '.lock'), lock, () => work(downloads));
}

function lockOptions({ onProgress, signal = null }: PrepareOptions, what: string): LockOptions {
  return { signal, onWait: ({ pid }) => onProgress?.(`waiting for process ${pid}, which ${what}`) };
}

function downloadsOf(task: Task, { cache }: LoadPreparedOptions): string {
  return join(cache, 'downloads', basename(task.folder));
}

/** The data made from exactly the files that the task names, with or without the optional ones: its key is known. */
async function loadVerified(task: Task, options: LoadPreparedOptions): Promise<PreparedData | null> {
  if (task.isSample) return await readPrepared(sampleFolder(task, recipeOf(task, options.helpers), options));
  const needed = task.file.sources.filter(({ optional }) => !optional);
  const recipe = recipeOf(task, options.helpers);
  for (const sources of [task.file.sources, needed]) {
    const expected = sources.map(({ file, sha256 }) => ({ file, sha256: sha256 ?? null }));
    if (!expected.every(isNamed)) continue;
    const data = await readPrepared(join(taskFolder(task, options), keyOf(recipe, expected)));
    if (data !== null) return data;
  }
  return null;
}

function isNamed(source: {
  file: string;
  sha256: string | null;
}): source is { file: string; sha256: string } {
  return source.sha256 !== null;
}

function sampleFolder(task: Task, recipe: string, options: { cache: string }): string {
  return join(taskFolder(task, options), `sample-${recipe.slice(0, 24)}`);
}

/** The task's sample.py makes up the contents of the sources; everything else is as with the real data. */
async function buildSample(
  task: Task,
  options: PrepareOptions & { onProgress: (message: string) => void },
): Promise<PreparedData> {
  const recipe = recipeOf(task, options.helpers);
  const folder = sampleFolder(task, recipe, options);
  const fill = async (downloads: string) => {
    options.onProgress(`generating sample data of ${task.file.id}`);
    await runSampleScript(task, { ...options, downloads, scratch: `${downloads}-scratch` });
    return [];
  };
  const origin = { fill, folderOf: () => folder };
  return (await readPrepared(folder)) ?? (await build(task, recipe, origin, options));
}

function taskFolder(task: Task, options: { cache: string }): string {
  return join(options.cache, 'data', task.file.id);
}

/** Hash of everything that shapes the data besides the sources: the script, its imports and its packages. */
function recipeOf(task: Task, helpers: string): string {
  const prepares = (path: string) =>
    path !== 'grade.py' && (path !== 'sample.py' || task.isSample) && !/^(solution|constant)\//.test(path);
  return sha256(
    JSON.stringify([
      folderVersion(task.hiddenFolder, prepares),
      ...[task.environmentFolder, join(helpers, 'mlab_task')].map((folder) =>
        folderVersion(folder, isPython),
      ),
      normaliseRequirements(task.requirements),
      task.file.sources.map(({ file, unpack: format }) => [file, format]),
      ...(task.variant === null ? [] : [task.variant]),
    ]),
  );
}

function isPython(path: string): boolean {
  return path.endsWith('.py');
}

function keyOf(recipe: string, sources: readonly { file: string; sha256: string }[]): string {
  return sha256(JSON.stringify([recipe, sources.map(({ file, sha256: hash }) => [file, hash])])).slice(0, 32);
}

/** Unfinished folders of processes that ended early; we hold the lock, so nobody uses them. */
function removeLeftovers(home: string): void {
  for (const name of readdirSync(home)) if (name.startsWith('.making-')) removeTree(join(home, name));
}

/** The origin of data. */
interface Origin {
  /** Puts everything that prepare.py needs into a folder, and returns records of it. */
  fill: (downloads: string) => Promise<PreparedSource[]>;
  /** The folder for data made from these. */
  folderOf: (records: PreparedSource[]) => string;
}

async function build(
  task: Task,
  recipe: string,
  origin: Origin,
  options: PrepareOptions & { onProgress: (message: string) => void },
): Promise<PreparedData> {
  const making = join(taskFolder(task, options), `.making-${randomBytes(4).toString('hex')}`);
  const downloads = join(making, 'downloads');
  const fresh = join(making, 'data');
  for (const path of [downloads, join(fresh, 'public')]) mkdirSync(path, { recursive: true });
  mkdirSync(join(fresh, 'private'), { mode: 0o700 });
  try {
    const records = await origin.fill(downloads);
    const folder = origin.folderOf(records);
    const ready = await readPrepared(folder);
    if (ready !== null) return ready;
    options.onProgress(`preparing the data of ${task.file.id}`);
    using _reminder = everyMinute((minutes) =>
      options.onProgress(`still preparing the data of ${task.file.id}, after ${minutes} min`),
    );
    await runPrepareScript(task, { ...options, downloads, data: fresh, scratch: join(making, 'scratch') });
    for (const part of parts) makeReadOnly(join(fresh, part), part === 'private' ? 0o500 : 0o555);
    const manifest = await writeManifest(task, fresh, recipe, records);
    removeTree(folder);
    renameSync(fresh, folder);
    chmodSync(folder, 0o555);
    await closeToOthers(folder);
    return preparedData(folder, manifest);
  } finally {
    removeTree(making);
  }
}

/** What prepare.py gets as --downloads: each file, and each archive's content in a folder beside it. */
async function layOut(
  sources: readonly SourceFile[],
  downloads: string,
  options: { onProgress: (message: string) => void; signal?: AbortSignal | null },
): Promise<void> {
  for (const { source, path } of sources) {
    symlinkSync(path, join(downloads, source.file));
    if (source.unpack === 'none') continue;
    const name = archiveFolderName(source.file);
    if (name === null) throw new Error(`${source.file} does not have the suffix of an archive`);
    options.onProgress(`unpacking ${source.file}`);
    await unpack(path, join(downloads, name), {
      format: source.unpack,
      maxBytes: source.unpacked_bytes_max,
      signal: options.signal ?? null,
    });
  }
}

/** Records in the order of the sources in task.yaml: the key depends on the order. */
function inOrder(task: Task, ...records: PreparedSource[][]): PreparedSource[] {
  const places = task.file.sources.map(({ file }) => file);
  return records.flat().sort((a, b) => places.indexOf(a.file) - places.indexOf(b.file));
}

async function writeManifest(
  task: Task,
  folder: string,
  recipe: string,
  sources: PreparedSource[],
): Promise<PreparedManifest> {
  const manifest: PreparedManifest = {
    schema: 1,
    task: task.file.id,
    recipe,
    ...(task.isSample ? { sample: true } : {}),
    sources,
    verified: sources.every((source) => source.sha256 === source.expected),
    prepared_at: new Date().toISOString(),
    files: await describeFiles(folder),
  };
  writeFileAtomically(join(folder, manifestName), `${JSON.stringify(manifest, null, 2)}\n`);
  chmodSync(join(folder, manifestName), 0o444);
  return manifest;
}
