/**
 * Measures the size of the workspaces of recorded runs of the original in our store:
 * `npm run node -- scripts/stored-size.ts FOLDER…`. `--help` says more.
 */
import { lstatSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { KnownContents } from '../src/exchange/import/known-contents.ts';
import { keptFiles } from '../src/exchange/import/workspaces.ts';
import { findOriginalRuns, readOriginalRun } from '../src/exchange/original/find-runs.ts';
import type { OriginalFile, OriginalRun } from '../src/exchange/original/original-run.ts';
import { sha256 } from '../src/lib/hash.ts';
import { removeTree } from '../src/lib/read-only-tree.ts';
import { ObjectId } from '../src/schema/index.ts';
import { ObjectStore, storeSnapshot } from '../src/store/index.ts';
import { readWords } from './read-words.ts';
import { isProgram, runScript, SetUpError } from './script.mjs';

const help = `Usage: npm run node -- scripts/stored-size.ts [--runs N] FOLDER...

Looks in the folders, at any depth, for recorded runs and reads the lists of their workspaces (snapshots.tsv.gz). Prints as
JSON, for each model, in bytes:
  runs, snapshots     how many there are
  all_snapshots       every file of every snapshot
  distinct            each content once
  public_data         of these: the task's tables (.csv, .gz) as the first snapshot has them, which we mount and never store
  kept                the rest
  measured            contents of these that are at hand, and what our store makes of them, by kind of file
  extrapolated        the others, stored as those of their kind that are at hand (or of all, where none of a kind is)
  lists               the snapshots' own lists, stored; the hashes in them are made up, for only parts are recorded
  stored              measured + extrapolated + lists
  stored_for_runs     the same for --runs N runs (default: 88), in proportion

  --help  prints this`;

interface Kind {
  contents: number;
  bytes: number;
  stored: number;
}

async function main(words: string[]): Promise<number> {
  const { values: flags, positionals: folders } = readWords(words, help, {
    help: { type: 'boolean' },
    runs: { type: 'string', default: '88' },
  });
  if (flags.help || folders.length === 0) {
    if (!flags.help) throw new SetUpError(`No folder was given.\n\n${help}`);
    console.log(help);
    return 0;
  }
  const wanted = Number(flags.runs);
  if (!Number.isSafeInteger(wanted) || wanted < 1)
    throw new SetUpError('--runs takes a whole number from 1.');
  const { signal } = new AbortController();
  const runs: OriginalRun[] = [];
  for (const found of await findOriginalRuns(folders, signal))
    runs.push(await readOriginalRun(found, signal));
  const models = Map.groupBy(runs, ({ model }) => model);
  const results: [string, object][] = [];
  for (const [model, own] of models) results.push([model, await sizesOf(own, wanted, signal)]);
  console.log(JSON.stringify(Object.fromEntries(results), null, 2));
  return 0;
}

async function sizesOf(runs: readonly OriginalRun[], wanted: number, signal: AbortSignal) {
  const snapshots = runs.flatMap((run) => [...run.snapshots.values()]);
  const files = snapshots.flat();
  const distinct = byHash(files);
  const publicData = byHash(runs.flatMap((run) => (run.snapshots.get(0) ?? []).filter(isTable)));
  const kept = new Map([...distinct].filter(([hash]) => !publicData.has(hash)));
  const contents = new KnownContents();
  contents.want(kept.values());
  for (const run of runs) await contents.offerRun(run, signal);
  const scratch = mkdtempSync(join(tmpdir(), 'mlab-stored-size-'));
  try {
    const measured = measure([...kept.values()], contents, join(scratch, 'contents'));
    const extrapolated = extrapolate([...kept.values()], contents, measured);
    const lists = storedLists(runs, publicData, join(scratch, 'lists'));
    const stored = sum(Object.values(measured).map((kind) => kind.stored)) + extrapolated.stored + lists;
    return {
      ...{ runs: runs.length, snapshots: snapshots.length, all_snapshots: bytesOf(files) },
      distinct: summary(distinct),
      public_data: summary(publicData),
      kept: summary(kept),
      ...{ measured, extrapolated, lists, stored },
      stored_for_runs: { runs: wanted, bytes: Math.round((stored * wanted) / runs.length) },
    };
  } finally {
    removeTree(scratch);
  }
}

/** By the suffix of its name; the original's backups have a time after it. */
function kindOf({ path }: OriginalFile): string {
  return extname(path).replace(/_\d{4}-[\d_-]+$/, '') || 'none';
}

/** The tables of a task, as the original puts them beside the scripts. */
function isTable({ path }: OriginalFile): boolean {
  return ['.csv', '.gz'].includes(extname(path));
}

function measure(
  files: readonly OriginalFile[],
  contents: KnownContents,
  folder: string,
): Record<string, Kind> {
  const kinds: Record<string, Kind> = {};
  for (const file of files) {
    const content = contents.find(file);
    if (content === null) continue;
    const name = kindOf(file);
    const kind = kinds[name] ?? { contents: 0, bytes: 0, stored: 0 };
    // A separate store for each kind: its size is that of the kind.
    new ObjectStore(join(folder, name)).putBytes(content);
    kinds[name] = { ...kind, contents: kind.contents + 1, bytes: kind.bytes + content.length };
  }
  return Object.fromEntries(
    Object.entries(kinds).map(([name, kind]) => [name, { ...kind, stored: folderBytes(join(folder, name)) }]),
  );
}

function extrapolate(
  files: readonly OriginalFile[],
  contents: KnownContents,
  measured: Readonly<Record<string, Kind>>,
): Kind {
  const all = Object.values(measured);
  const ratioOf = ({ bytes, stored }: Pick<Kind, 'bytes' | 'stored'>) => (bytes === 0 ? 1 : stored / bytes);
  const overall = ratioOf({
    bytes: sum(all.map(({ bytes }) => bytes)),
    stored: sum(all.map(({ stored }) => stored)),
  });
  const missing = files.filter((file) => contents.find(file) === null);
  const stored = missing.map((file) => {
    const kind = measured[kindOf(file)];
    return file.bytes * (kind === undefined ? overall : ratioOf(kind));
  });
  return { contents: missing.length, bytes: bytesOf(missing), stored: Math.round(sum(stored)) };
}

function storedLists(
  runs: readonly OriginalRun[],
  publicData: ReadonlyMap<string, OriginalFile>,
  folder: string,
): number {
  const objects = new ObjectStore(folder);
  for (const { snapshots } of runs) {
    for (const listing of snapshots.values()) {
      const entries = keptFiles(listing)
        .filter(({ hash }) => !publicData.has(hash))
        .map(({ path, bytes, hash }) => {
          const object = ObjectId.parse(hash.slice(0, 16) + sha256(hash).slice(16));
          return { path, object, size: bytes, mode: 0o644, mtime: 1_700_000_000_000 };
        });
      storeSnapshot(objects, entries);
    }
  }
  return folderBytes(folder);
}

function byHash(files: readonly OriginalFile[]): Map<string, OriginalFile> {
  return new Map(files.map((file) => [file.hash, file]));
}

function summary(files: ReadonlyMap<string, OriginalFile>) {
  return { contents: files.size, bytes: bytesOf([...files.values()]) };
}

function bytesOf(files: readonly OriginalFile[]): number {
  return sum(files.map(({ bytes }) => bytes));
}

function folderBytes(folder: string): number {
  return sum(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => lstatSync(join(entry.parentPath, entry.name)).size),
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

if (isProgram(import.meta.url)) await runScript(main);
