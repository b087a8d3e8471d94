import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sha256OfFile } from '../../lib/hash.ts';
import type { TaskResources } from '../workspace.ts';
import type { Probe } from './validation-agent.ts';

/** The state of files of the host at one moment, by path. */
export type HostFiles = ReadonlyMap<string, string>;

/**
 * Everything that runs share: data, task, helpers, Python environment. Contents are hashed, except for the many files
 * of the environment: for those size, mode, inode and both time stamps are recorded (no process can reset ctime).
 */
export async function hostFiles(
  { task, prepared, python }: TaskResources,
  helpersFolder: string,
): Promise<HostFiles> {
  const files = new Map<string, string>();
  for (const folder of [prepared.folder, task.folder, helpersFolder]) await add(folder, true, files);
  await add(python.environment, false, files);
  return files;
}

async function add(folder: string, hashed: boolean, files: Map<string, string>): Promise<void> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.name === '__pycache__' && hashed) continue;
    if (entry.isDirectory()) await add(path, hashed, files);
    const { size, mode, ino, mtimeMs, ctimeMs } = lstatSync(path);
    const content = hashed && entry.isFile() ? await sha256OfFile(path) : `${size} ${mtimeMs} ${ctimeMs}`;
    files.set(path, entry.isDirectory() ? `folder ${mode}` : `${mode} ${ino} ${content}`);
  }
}

/** What was changed, removed or added between two moments. */
export function compareHostFiles(before: HostFiles, after: HostFiles): Probe {
  const changed = [
    ...[...before].filter(([path, state]) => after.get(path) !== state).map(([path]) => path),
    ...[...after.keys()].filter((path) => !before.has(path)),
  ];
  return {
    looked: 'files of the host: data, task, helpers, Python environment',
    breached: changed.length > 0,
    finding:
      changed.length === 0
        ? `${before.size} files are as they were`
        : `${changed.length} changed: ${changed.slice(0, 5).join(', ')} (if another program may have changed them in ` +
          'the meantime, such as an editor or a second check, run this check again alone)',
  };
}
