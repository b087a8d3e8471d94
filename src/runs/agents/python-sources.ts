import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { UserError } from '../../lib/errors.ts';
import { sha256 } from '../../lib/hash.ts';
import { makeWholeFolder } from '../../lib/whole-folder.ts';

/** Enough for any agent, but not for a whole home folder. */
const maxFiles = 500;
const maxEntries = 20_000;
const maxBytes = 16 * 2 ** 20;
/** Installed packages are not sources of the agent, and neither are experiments. */
const passedOver = new Set(['node_modules', '__pycache__', 'site-packages', 'venv', 'env']);

/** The Python files of an agent: their texts by their paths, relative to the folder of its file. */
export type PythonSources = ReadonlyMap<string, Buffer>;

/**
 * Everything that the agent might import from its own folder.
 * @param path of the agent's file
 * @throws UserError if the folder contains more than an agent
 */
export function sourcesBeside(path: string): PythonSources {
  const root = dirname(path);
  const sources = new Map([[basename(path), readFileSync(path)]]);
  const folders = [''];
  let entries = 0;
  let bytes = 0;
  for (const folder of folders) {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      entries += 1;
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
      const isHidden = entry.name.startsWith('.');
      if (entry.isDirectory() && !isHidden && mayHoldSources(root, name)) folders.push(name);
      if (!entry.isFile() || isHidden || !entry.name.endsWith('.py') || sources.has(name)) continue;
      bytes += statSync(join(root, name)).size;
      if (bytes <= maxBytes) sources.set(name, readFileSync(join(root, name)));
    }
    if (entries > maxEntries || sources.size > maxFiles || bytes > maxBytes) throw crowded(root, folder);
  }
  return sources;
}

function mayHoldSources(root: string, name: string): boolean {
  const isExperiment = () => existsSync(join(root, name, 'plan.json'));
  return !passedOver.has(basename(name)) && !isExperiment();
}

function crowded(root: string, folder: string): UserError {
  return new UserError(
    'crowded_folder',
    `${root} contains more than an agent, which would see all its Python files: with those in ${join(root, folder)}, ` +
      `there are more than ${maxFiles}, or more than ${maxBytes / 2 ** 20} MiB, or more than ${maxEntries} entries.`,
    'Move the agent and its imports into a separate folder.',
  );
}

/** The sources that were imported. */
export function chosenSources(sources: PythonSources, imported: readonly string[]): PythonSources {
  const names = [...new Set(imported)].sort();
  return new Map(
    names.flatMap((name) => {
      const text = sources.get(name);
      return text === undefined ? [] : [[name, text] as const];
    }),
  );
}

export function hashOfSources(sources: PythonSources): string {
  const hashes = [...sources].map(([name, text]) => [name, sha256(text)]);
  return sha256(JSON.stringify(hashes.sort()));
}

/** A folder in the cache with exactly these files, created if it is missing. */
export async function folderOf(sources: PythonSources, cache: string, signal: AbortSignal): Promise<string> {
  const folder = join(cache, 'agents', hashOfSources(sources));
  if (statSync(folder, { throwIfNoEntry: false }) !== undefined) return folder;
  await makeWholeFolder(folder, signal, async (part) => {
    for (const [name, text] of sources) {
      mkdirSync(dirname(join(part, name)), { recursive: true });
      writeFileSync(join(part, name), text);
    }
  });
  return folder;
}
