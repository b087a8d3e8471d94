import { existsSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { UserError } from './errors.ts';
import { FolderHandle } from './folder-handle.ts';
import { sha256 } from './hash.ts';
import { machineIdentity, processStartTime } from './process-identity.ts';
import { removeTreeSlowly } from './read-only-tree.ts';

const mark = 'mlab-part';
const replaced = `.${mark}-replaced`;
const maxRemovingMs = 1000;

/**
 * Makes a folder that is either complete or absent: its content is written beside it until it is complete, or inside it
 * if the folder exists already. Incomplete output of a killed process is removed by the next one.
 * @param folder absolute; existing entries are replaced by new ones of the same name
 * @param fill writes into the folder that it gets
 * @throws UserError `part_left` if it was interrupted and removing the part took too long; and any error of `fill`
 */
export async function makeWholeFolder<Made>(
  folder: string,
  signal: AbortSignal,
  fill: (part: string) => Promise<Made>,
): Promise<Made> {
  const isThere = existsSync(folder);
  const parent = isThere ? folder : dirname(folder);
  const prefix = isThere ? `.${mark}` : `.${basename(folder)}.${mark}`;
  mkdirSync(parent, { recursive: true });
  await removeOrphans(parent, prefix, signal);
  const part = join(parent, `${prefix}-${whose(process.pid)}`);
  if (isThere) makeBeneath(part);
  else mkdirSync(part);
  try {
    const made = await fill(part);
    signal.throwIfAborted();
    if (!isThere) renameSync(part, folder);
    else {
      moveEntries(part, folder);
      await removeTreeSlowly(part);
    }
    return made;
  } catch (error) {
    await removePart(part, error);
    throw error;
  }
}

/** @throws UserError `not_empty` if there is a file, or a folder that has more than incomplete parts */
export function refuseOccupied(path: string): void {
  const state = statSync(path, { throwIfNoEntry: false });
  if (state === undefined || (state.isDirectory() && wholeNamesIn(path).length === 0)) return;
  throw new UserError(
    'not_empty',
    `${path} already exists and is not empty.`,
    'Give a new or an empty folder.',
  );
}

/** Names in a folder, without incomplete parts; none if there is no folder. */
export function wholeNamesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  using handle = FolderHandle.open(folder);
  return handle.names().filter((name) => !name.startsWith(`.${mark}-`));
}

/** A folder that root makes in another user's folder gets that user as its owner. */
function makeBeneath(folder: string): void {
  using parent = FolderHandle.open(dirname(folder));
  parent.createFolder(basename(folder));
}

async function removePart(part: string, cause: unknown): Promise<void> {
  const late = AbortSignal.timeout(maxRemovingMs);
  try {
    await removeTreeSlowly(part, late);
  } catch (error) {
    if (!late.aborted) throw error;
    const hint = 'The same command again removes it first; or delete it.';
    throw new UserError('part_left', `Incomplete output is left in ${part}.`, hint, {
      cause,
    });
  }
}

function moveEntries(from: string, to: string): void {
  using source = FolderHandle.open(from);
  using target = FolderHandle.open(to);
  const names = source.names();
  source.createFolder(replaced);
  using old = source.openFolder(replaced);
  for (const name of names) {
    if (target.stat(name) !== undefined) renameSync(target.at(name), old.at(name));
    renameSync(source.at(name), target.at(name));
  }
}

async function removeOrphans(parent: string, prefix: string, signal: AbortSignal): Promise<void> {
  using handle = FolderHandle.open(parent);
  for (const name of handle.names()) {
    if (name.startsWith(`${prefix}-`) && isOrphan(name.slice(prefix.length + 1)))
      await handle.removeSlowly(name, signal);
  }
}

/** Identifies the owner of a part: this process, on this boot of this machine. */
function whose(pid: number): string {
  return [sha256(machineIdentity()).slice(0, 8), pid, processStartTime(pid) ?? '0'].join('-');
}

/** Parts of other machines are left alone. */
function isOrphan(owner: string): boolean {
  const [machine, pid] = owner.split('-');
  return machine === whose(process.pid).split('-')[0] && owner !== whose(Number(pid));
}
