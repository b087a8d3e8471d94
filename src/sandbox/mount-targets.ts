import { chmodSync, closeSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { DisposableStack } from '../lib/disposable-stack.ts';
import { FolderHandle } from '../lib/folder-handle.ts';
import { isWithin, realPath } from './paths.ts';
import { type Mount, SandboxError } from './sandbox.ts';

/** The mount that is seen at a path inside. */
export function mountAt<Each extends Mount>(path: string, mounts: readonly Each[]): Each | null {
  return mounts
    .filter(({ target }) => isWithin(target, path))
    .reduce<Each | null>(
      (best, each) => (best === null || each.target.length >= best.target.length ? each : best),
      null,
    );
}

/** The file of the host, links followed, that is seen at a path inside; null if there is none. */
export function hostPathOf(path: string, mounts: readonly Mount[]): string | null {
  const mount = mountAt(path, mounts);
  return mount === null ? null : realPath(join(mount.source, relative(mount.target, path)));
}

/**
 * Every path inside at which a file of the host is seen.
 * @param file without links
 */
export function placesOf(file: string, mounts: readonly Mount[]): string[] {
  return mounts.flatMap((mount) => {
    const root = realPath(mount.source);
    if (root === null || !isWithin(root, file)) return [];
    const place = join(mount.target, relative(root, file));
    return mountAt(place, mounts) === mount ? [place] : [];
  });
}

/**
 * A mount within a writable one is put over a path that commands may have changed: a link there would lead the mount,
 * and the folders made for it, elsewhere on the host. Folders that a command has closed, including the writable one
 * itself, are opened to their owner again, because otherwise their contents can't be checked.
 * @throws SandboxError if there is a link
 */
export function checkMountTargets(mounts: readonly Mount[]): void {
  for (const outer of mounts.filter(({ access }) => access === 'write')) {
    openToOwner(outer);
    for (const inner of mounts) {
      if (inner.target !== outer.target && isWithin(outer.target, inner.target)) checkPath(outer, inner);
    }
  }
}

/**
 * The folders between a writable mount and one deeper inside it, each mounted on itself: a running command can't move a
 * mount point, so the path to the inner mount stays as it was checked.
 */
export function heldFolders(mounts: readonly Mount[]): Mount[] {
  const taken = new Set(mounts.map(({ target }) => target));
  const writable = mounts.filter(({ access }) => access === 'write');
  const held = mounts.flatMap((inner): Mount[] => {
    if (!writable.some(({ target }) => target !== inner.target && isWithin(target, inner.target))) return [];
    const outer = mountAt(
      inner.target,
      mounts.filter((mount) => mount !== inner && isWithin(mount.target, inner.target)),
    );
    if (outer?.access !== 'write') return [];
    const names = relative(outer.target, inner.target).split('/').slice(0, -1);
    return names.map((_, index) => {
      const path = join(...names.slice(0, index + 1));
      return { source: join(outer.source, path), target: join(outer.target, path), access: 'write' };
    });
  });
  return [...new Map(held.map((mount) => [mount.target, mount])).values()].filter(
    ({ target }) => !taken.has(target),
  );
}

/** No command can replace the start of a mount, so its path is trusted. */
function openToOwner({ source }: Mount): void {
  const stat = statSync(source, { throwIfNoEntry: false });
  if (stat?.isDirectory() === true && (stat.mode & 0o700) !== 0o700) chmodSync(source, stat.mode | 0o700);
}

function checkPath(outer: Mount, inner: Mount): void {
  const names = relative(outer.target, inner.target).split('/');
  using handles = new DisposableStack();
  let folder = handles.use(FolderHandle.open(outer.source));
  for (const [index, name] of names.entries()) {
    const path = join(outer.source, ...names.slice(0, index + 1));
    const stat = folder.stat(name);
    // Otherwise it would be made together with the mount: owned by root, and through a path that a command may have
    // redirected since.
    if (stat === undefined) {
      makePath(outer, names, inner);
      return;
    }
    if (stat.isSymbolicLink()) throw inTheWay(path, 'a symbolic link', inner);
    if (index === names.length - 1) return;
    if (!stat.isDirectory()) throw inTheWay(path, 'no folder', inner);
    folder = handles.use(folder.openOwnFolder(name));
  }
}

/** Makes the missing folders of a path, with the owner of their parent. */
function makePath(outer: Mount, names: readonly string[], inner: Mount): void {
  using handles = new DisposableStack();
  let folder = handles.use(FolderHandle.open(outer.source));
  for (const [index, name] of names.entries()) {
    const source = statSync(inner.source, { throwIfNoEntry: false });
    const isFile = index === names.length - 1 && source?.isDirectory() === false;
    if (folder.stat(name) === undefined && isFile) closeSync(folder.createFile(name));
    else if (folder.stat(name) === undefined) folder.createFolder(name);
    if (!isFile) folder = handles.use(folder.openFolder(name));
  }
}

function inTheWay(path: string, what: string, { target }: Mount): SandboxError {
  return new SandboxError(`${path} is ${what} where ${target} is to be mounted`, `remove ${path}`);
}
